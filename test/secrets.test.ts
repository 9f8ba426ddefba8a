import { randomBytes } from "node:crypto";
import { open, readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { bcrypt } from "hash-wasm";
import { expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../src/program/program.ts";
import { listen } from "./appliance/support.ts";
import { createFolder } from "./exporter/config/folder.ts";
import { createLeakSearch } from "./support/canaries.ts";
import { createAuthority } from "./support/certificates.ts";
import { eventually } from "./support/eventually.ts";
import { closedPort } from "./support/fault-server.ts";
import { createTestIo } from "./support/io.ts";
import { ask } from "./exporter/web/support.ts";

// Many reloads and commands, one after the other.
vi.setConfig({ testTimeout: 120_000 });

const AUTHORITY = await createAuthority();
const [SERVER, OTHER, CLIENT] = [await AUTHORITY.issue(), await AUTHORITY.issue(), await AUTHORITY.issue()];

/** Each where a secret may be written, with characters that URLs and base64 write otherwise. */
const SECRETS = {
  /** Sent to appliances, of which some echo it. */
  inline: "inline/c4n+ry?1",
  file: "file/c4n+ry?2",
  proxy: "proxy/c4n+ry?3",
  baseUrl: "url/c4n+ry?4",
  mistake: "mistake/c4n+ry?5",
  /** Sent by an operator to the exporter's own pages. */
  operator: "operator/c4n+ry?6",
  guess: "guess/c4n+ry?7",
};
const HASH = await bcrypt({ password: SECRETS.operator, salt: randomBytes(16), costFactor: 4 });

const leaksIn = createLeakSearch({
  // After the secrets, what is left of each where something has cut it.
  texts: [...Object.values(SECRETS), "c4n+ry", "c4n%2Bry", HASH, HASH.slice(7)],
  users: ["monitor", "px", "u", "operator"],
  keys: [CLIENT.key, SERVER.key, OTHER.key],
});

/** Configurations with a secret beside, or in place of, a mistake. */
const BAD_CONFIGS: readonly string[] = [
  `appliances: [{ name: a, base_url: "https://u:${SECRETS.baseUrl}@h" }]`,
  `appliances: [{ name: a, base_url: "u:${SECRETS.baseUrl}@h" }]`,
  `appliances: [{ name: a, base_url: "https://h/?token=${encodeURIComponent(SECRETS.baseUrl)}" }]`,
  `http_client: { basic_auth: { username: u, password: "${SECRETS.mistake}\\0" } }`,
  `http_client: { basic_auth: { username: u, password: [${SECRETS.mistake}] } }`,
  `http_client: { basic_auth: { username: u, password_file: "${SECRETS.mistake}" } }`,
  `http_client: { basic_auth: { username: u, password:${SECRETS.mistake} } }`,
  `http_client: { basic_auth: "u:${SECRETS.mistake}" }`,
  `http_client: { proxy_url: "https://u:${SECRETS.mistake}@h" }`,
  `http_client: { tls_config: { cert_file: client.pem, key_file: ${JSON.stringify(CLIENT.key)} } }`,
  `http_client: { tls_config: { ca_file: client.key, cert_file: client.key, key_file: password } }`,
  `http_client: { basic_auth: { username: u, password: "${SECRETS.mistake}`,
];

const webConfig = () => `tls_server_config: { cert_file: server.pem, key_file: server.key }
basic_auth_users: { operator: "${HASH}" }
http_server_config: { headers: { X-Frame-Options: deny } }
`;

/** Web configurations with a secret beside, or in place of, a mistake. */
const BAD_WEB_CONFIGS: readonly string[] = [
  webConfig().replace("server.key", "other.key"),
  webConfig().replace("server.key", "broken.key"),
  JSON.stringify({ tls_server_config: { cert_file: "server.pem", key: CLIENT.key } }),
  JSON.stringify({ tls_server_config: { cert_file: "server.pem", key_file: SERVER.key } }),
  JSON.stringify({
    tls_server_config: { cert_file: "server.pem", key_file: SERVER.key.replaceAll("\n", "") },
  }),
  JSON.stringify({ tls_server_config: { cert_file: SERVER.key, key_file: "server.key" } }),
  JSON.stringify({
    tls_server_config: {
      cert_file: "server.pem",
      key_file: "server.key",
      client_auth_type: "RequestClientCert",
      client_ca_file: SERVER.key.replaceAll(/-----.*-----|\n/g, ""),
    },
  }),
  JSON.stringify({ tls_server_config: { cert_file: "server.pem", key_file: [SERVER.key] } }),
  JSON.stringify({ tls_server_config: { cert_file: "server.pem", private_key: SERVER.key } }),
  JSON.stringify({ tls_server_config: SERVER.key }),
  `basic_auth_users: { operator: "${SECRETS.mistake}" }`,
  `basic_auth_users: { "operator:${SECRETS.mistake}": }`,
  `basic_auth_users: { operator:${HASH} }`,
  `basic_auth_users: ["${SECRETS.mistake}"]`,
  `basic_auth_users: "operator:${SECRETS.mistake}"`,
  `basic_auth_users: { operator: ["${HASH}"] }`,
  `basic_auth_users: { operator: "${HASH}x" }`,
  `basic_auth_users: { operator: "${HASH}" }\n"${HASH}": 1`,
  `basic_auth_users: { operator: "${HASH}`,
  `basic_auth_users: { operator: "${HASH}" }`,
];

interface Echo {
  readonly status?: number;
  readonly reason?: string;
  readonly location?: string;
  readonly body: unknown;
}

/** Responses that echo the credentials in every part. */
const ECHOES: Readonly<Record<string, (said: readonly string[]) => Echo>> = {
  list: (said) => ({ body: Object.fromEntries(said.map((text, i) => [`${i} ${text}`, carp(text)])) }),
  shape: (said) => ({ body: said }),
  values: (said) => ({
    body: Object.fromEntries(said.map((text) => [text, { ...carp(text), vhid: text, state_current: text }])),
  }),
  page: (said) => ({ body: `<html>${said.join("<br>")}</html>` }),
  status: (said) => ({ status: 500, reason: said.join(" "), body: said }),
  refusal: (said) => ({ status: 401, reason: said[0] ?? "", body: said }),
  redirect: (said) => ({ status: 302, body: said, location: `https://h/${said[0]}` }),
};

function carp(text: string) {
  return { vhid: "2", vip: "192.0.2.1", state_current: "MASTER", device: text };
}

/** Appliances with every kind of echo, by the first segment of their paths. */
const echo: RequestListener = ({ url = "/", headers: { authorization = "" } }, response) => {
  const token = authorization.replace("Basic ", "");
  const said = [authorization, token, Buffer.from(token, "base64").toString(), SECRETS.inline];
  const [, kind = "", ...rest] = url.split("/");
  if (rest.includes("website")) {
    const lines = said.map((text) => `X-Echo: ${text}`).join("\n");
    response.end(JSON.stringify(`HTTP CONNECT ${"-".repeat(49)} HTTP\nHTTP/1.1 200 ${token}\n${lines}\n\n`));
    return;
  }
  const { status = 200, reason = "OK", location, body } = ECHOES[kind]?.(said) ?? { body: {} };
  const headers = { "www-authenticate": `Basic realm="${reason}"`, ...(location && { location }) };
  response.writeHead(status, reason, headers).end(typeof body === "string" ? body : JSON.stringify(body));
};

/** An appliance that lets in whoever shows its password and a certificate, over TLS. */
async function startAppliance(password: string): Promise<number> {
  const wanted = `Basic ${Buffer.from(`monitor:${password}`).toString("base64")}`;
  const answer: RequestListener = ({ headers }, response) => {
    if (headers.authorization !== wanted) response.writeHead(401).end();
    else response.end(JSON.stringify({ carp0: { vhid: "2", vip: "192.0.2.1", state_current: "MASTER" } }));
  };
  const clients = { requestCert: true, rejectUnauthorized: true, ca: AUTHORITY.cert };
  return listen(createTlsServer({ ...SERVER, ...clients }, answer));
}

const PASSWORD_FILE = "http_client: { basic_auth: { username: monitor, password_file: password } }";

/** A protected exporter's files, with appliances whose polls succeed and fail with every kind of secret. */
async function setUp() {
  const [good, byFile, refusing] = await Promise.all(
    [SECRETS.inline, SECRETS.file, "another password"].map(startAppliance),
  );
  const proxy = await listen(
    createServer().on("connect", (_, socket) => socket.end("HTTP/1.1 407 No\r\n\r\n")),
  );
  const echoing = await listen(createServer(echo));
  const credentials = `px:${encodeURIComponent(SECRETS.proxy)}`;
  const through = (name: string, address: string) =>
    `  - { name: ${name}, base_url: "https://127.0.0.1:${good}", http_client: { proxy_url: "http://${credentials}@${address}" } }`;
  const appliances = [
    `  - { name: inline, base_url: "https://127.0.0.1:${good}" }`,
    `  - { name: file, base_url: "https://127.0.0.1:${byFile}", ${PASSWORD_FILE} }`,
    `  - { name: refusing, base_url: "https://127.0.0.1:${refusing}", ${PASSWORD_FILE} }`,
    `  - { name: refusing-inline, base_url: "https://127.0.0.1:${refusing}" }`,
    through("proxied", `127.0.0.1:${proxy}`),
    through("lost", `127.0.0.1:${await closedPort()}`),
    through("nameless", "nowhere.invalid"),
    ...Object.keys(ECHOES).map(
      (kind) =>
        `  - { name: ${kind}, base_url: "http://127.0.0.1:${echoing}/${kind}", allow_http: true, websites: [1] }`,
    ),
  ];
  const goodConfig = `
# ${SECRETS.mistake}
polling: { vrrp: { interval: 1s }, websites: { interval: 1s } }
http_client:
  basic_auth: { username: monitor, password: "${SECRETS.inline}" }
  tls_config: { ca_file: ca.pem, cert_file: client.pem, key_file: client.key }
appliances:
${appliances.join("\n")}
`;
  const folder = await createFolder({
    "config.yaml": goodConfig,
    "web.yaml": webConfig(),
    "ca.pem": AUTHORITY.cert,
    "client.pem": CLIENT.cert,
    "client.key": CLIENT.key,
    "server.pem": SERVER.cert,
    "server.key": SERVER.key,
    "other.key": OTHER.key,
    "broken.key": SERVER.key.replace("PRIVATE KEY", "PRIVATE KEE"),
    "right.yaml": httpConfig(SECRETS.operator),
    "wrong.yaml": httpConfig(SECRETS.guess),
    "bad.yaml": `http_client: { basic_auth: { username: operator, password:${SECRETS.mistake} } }`,
    password: `${SECRETS.file}\n`,
  });
  const names = ["inline", "file", "refusing", "proxied", "lost", "nameless", ...Object.keys(ECHOES)];
  return { folder, file: (name: string) => join(folder, name), goodConfig, names };
}

function httpConfig(password: string): string {
  return `http_client: { basic_auth: { username: operator, password: "${password}" }, tls_config: { ca_file: ca.pem } }\n`;
}

/** The complete output of a command. */
async function outputOf(...argv: readonly string[]): Promise<string> {
  const { io, printed } = await createTestIo();
  await runProgram(argv, io);
  return printed.out + printed.err;
}

const PATHS = [
  "/",
  "/metrics",
  "/config",
  "/api/v1/fleet",
  "/api/v1/history",
  "/sd/websites",
  "/-/healthy",
  "/none",
  `/metrics?password=${encodeURIComponent(SECRETS.operator)}`,
];

// Each mistake is one value of a line, as commands print it: a few are enough for a log.
test.each([
  ["json", BAD_CONFIGS.slice(-3), BAD_WEB_CONFIGS.slice(-3)],
  ["logfmt", BAD_CONFIGS.slice(-1), BAD_WEB_CONFIGS.slice(-1)],
] as const)(
  "no page, command or line of a log in %s shows a secret, whatever polls and reloads come to",
  async (format, badConfigs, badWebConfigs) => {
    const { folder, file, goodConfig } = await setUp();
    const log = await open(join(folder, "log"), "w");
    onTestFinished(() => log.close());
    const { io, printed, stop, hangUp } = await createTestIo({ logFd: log.fd });
    const port = await closedPort();
    const flags = [`--config.file=${file("config.yaml")}`, `--web.config.file=${file("web.yaml")}`];
    const web = [`--web.listen-address=127.0.0.1:${port}`, "--web.enable-lifecycle"];
    const journal = `--storage.path=${join(folder, "journal")}`;
    const ended = runProgram(
      ["run", ...flags, ...web, journal, "--log.level=debug", `--log.format=${format}`],
      io,
    );
    onTestFinished(stop);
    const said: string[] = [];
    const get = async (path: string, password = SECRETS.operator, method = "GET"): Promise<number> => {
      const question = { ca: AUTHORITY.cert, auth: `operator:${password}`, method };
      const { status, headers, body } = await ask(port, path, question);
      said.push(`${status} ${JSON.stringify(headers)}\n${body.toString()}`);
      return status;
    };
    const reload = () => get("/-/reload", SECRETS.operator, "POST");

    await eventually(async () => expect(await get("/-/ready")).toBe(200));
    for (const path of PATHS)
      for (const password of [SECRETS.guess, SECRETS.operator]) await get(path, password);
    for (const bad of badConfigs) {
      await writeFile(file("config.yaml"), `${bad}\n`);
      expect(await reload()).toBe(500);
    }
    await writeFile(file("config.yaml"), goodConfig.replaceAll("interval: 1s", "interval: 2s"));
    for (const bad of badWebConfigs) {
      await writeFile(file("web.yaml"), `${bad}\n`);
      expect(await reload()).toBe(500);
    }
    hangUp();
    for (const path of PATHS) await get(path);
    await writeFile(file("web.yaml"), webConfig());
    expect(await reload()).toBe(200);
    const url = `--url=https://127.0.0.1:${port}`;
    for (const name of ["right", "wrong", "bad"])
      said.push(await outputOf("status", url, `--http.config.file=${file(`${name}.yaml`)}`, "--output=json"));
    said.push(await outputOf("status", `--url=https://operator:${SECRETS.operator}@127.0.0.1:${port}`));
    await eventually(async () => {
      expect(await get("/api/v1/history")).toBe(200);
      expect(said.at(-1)).toContain('"cluster":"nameless"');
    });
    stop();
    expect(await ended).toBe(0);

    const logged = await readFile(join(folder, "log"), "utf8");
    for (const line of [
      "polling fails",
      "poll completed",
      "configuration is invalid",
      "configuration reloaded",
    ])
      expect(logged).toContain(line);
    // The secrets' places are there.
    for (const shown of [
      'appliance_up{appliance="inline",ha_cluster="inline"} 1',
      'appliance_up{appliance="file",ha_cluster="file"} 1',
      'interface="0 Basic <secret>"',
      '"password": "<secret>"',
      "http://<secret>@nowhere.invalid",
    ])
      expect(said.join("\n")).toContain(shown);
    expect(leaksIn([logged, printed.out, printed.err, ...said].join("\n"))).toEqual([]);
  },
);

test("no command shows a secret, in a table, in JSON or as it came", async () => {
  const { file, names } = await setUp();
  const outputs: string[] = [];
  const config = `--config.file=${file("config.yaml")}`;
  for (const form of ["table", "json"]) {
    const flags = [config, `--output=${form}`];
    outputs.push(await outputOf("check", ...flags), await outputOf("check", "--live", ...flags));
    for (const name of names) outputs.push(await outputOf("poll", name, ...flags));
  }
  for (const name of names)
    for (const flags of [["--raw"], ["--record=/dev/null", "--yes"]])
      outputs.push(await outputOf("poll", name, ...flags, config));
  expect(outputs.join("\n")).toContain("Basic <secret>");
  // The last one is refused by a reload alone.
  for (const bad of BAD_WEB_CONFIGS.slice(0, -1)) {
    await writeFile(file("web.yaml"), `${bad}\n`);
    const address = `--web.listen-address=127.0.0.1:${await closedPort()}`;
    const output = await outputOf("run", config, `--web.config.file=${file("web.yaml")}`, address);
    expect(output).toMatch(/web\.yaml:\d+:\d+: /);
    outputs.push(output);
  }
  for (const bad of BAD_CONFIGS) {
    await writeFile(file("config.yaml"), `${bad}\n`);
    for (const argv of [["run"], ["check", "--output=json"]]) outputs.push(await outputOf(...argv, config));
  }
  for (const command of ["run", "check", "poll", "status", "appliance", "demo"])
    outputs.push(await outputOf(command, "--help"));
  expect(outputs.filter((output) => output === "")).toEqual([]);
  expect(leaksIn(outputs.join("\n"))).toEqual([]);
});

test("the search finds secrets in every form", () => {
  const { inline } = SECRETS;
  const basic = Buffer.from(`monitor:${inline}`).toString("base64");
  for (const text of [inline, `Basic ${basic}`, `http://u:${encodeURIComponent(inline)}@h`, CLIENT.key])
    expect(leaksIn(`x ${text} y`)).not.toEqual([]);
});
