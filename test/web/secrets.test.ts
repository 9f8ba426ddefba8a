import { randomBytes } from "node:crypto";
import { open, readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { bcrypt } from "hash-wasm";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { listen } from "../appliance/support.ts";
import { createFolder } from "../config/folder.ts";
import { createLeakSearch } from "../support/canaries.ts";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { closedPort } from "../support/fault-server.ts";
import { createTestIo } from "../support/io.ts";
import { ask as request } from "./support.ts";

const AUTHORITY = await createAuthority();
const [SERVER, OTHER] = await Promise.all([AUTHORITY.issue(), AUTHORITY.issue()]);

const PASSWORDS = {
  /** Sent by an operator to the exporter's own pages. */
  operator: "operator/c4n+ry?1",
  guess: "guess/c4n+ry?2",
  /** Sent to an appliance that echoes it. */
  echoed: "echoed/c4n+ry?3",
  mistake: "mistake/c4n+ry?4",
};
const HASH = await bcrypt({ password: PASSWORDS.operator, salt: randomBytes(16), costFactor: 4 });

const leaksIn = createLeakSearch({
  texts: [...Object.values(PASSWORDS), "c4n+ry", "c4n%2Bry", HASH, HASH.slice(7)],
  users: ["operator", "monitor"],
  keys: [SERVER.key, OTHER.key],
});

const webConfig = () => `tls_server_config: { cert_file: server.pem, key_file: server.key }
basic_auth_users: { operator: "${HASH}" }
http_server_config: { headers: { X-Frame-Options: deny } }
`;

/** Web configurations with a secret beside, or in place of, a mistake. */
const BAD_WEB_CONFIGS: readonly string[] = [
  webConfig().replace("server.key", "other.key"),
  webConfig().replace("server.key", "broken.key"),
  JSON.stringify({ tls_server_config: { cert_file: "server.pem", key: SERVER.key } }),
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
  `basic_auth_users: { operator: "${PASSWORDS.mistake}" }`,
  `basic_auth_users: { "operator:${PASSWORDS.mistake}": }`,
  `basic_auth_users: { operator:${HASH} }`,
  `basic_auth_users: ["${PASSWORDS.mistake}"]`,
  `basic_auth_users: "operator:${PASSWORDS.mistake}"`,
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
  const said = [authorization, token, Buffer.from(token, "base64").toString(), PASSWORDS.echoed];
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

async function setUp() {
  const port = await listen(createServer(echo));
  const appliances = Object.keys(ECHOES).map(
    (kind) =>
      `  - { name: ${kind}, base_url: "http://127.0.0.1:${port}/${kind}", allow_http: true, websites: [1] }\n`,
  );
  const folder = await createFolder({
    "config.yaml": `
polling: { vrrp: { interval: 1s }, websites: { interval: 1s } }
http_client: { basic_auth: { username: monitor, password: "${PASSWORDS.echoed}" } }
appliances:
${appliances.join("")}`,
    "web.yaml": webConfig(),
    "ca.pem": AUTHORITY.cert,
    "server.pem": SERVER.cert,
    "server.key": SERVER.key,
    "other.key": OTHER.key,
    "broken.key": SERVER.key.replace("PRIVATE KEY", "PRIVATE KEE"),
    "right.yaml": httpConfig(PASSWORDS.operator),
    "wrong.yaml": httpConfig(PASSWORDS.guess),
    "bad.yaml": `http_client: { basic_auth: { username: operator, password:${PASSWORDS.mistake} } }`,
  });
  return { folder, file: (name: string) => join(folder, name) };
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
  "/sd/websites",
  "/-/healthy",
  "/none",
  `/metrics?password=${encodeURIComponent(PASSWORDS.operator)}`,
];

test.each(["json", "logfmt"])(
  "with a protected server and appliances that echo, no page, command or log in %s shows a secret",
  async (format) => {
    const { folder, file } = await setUp();
    const log = await open(join(folder, "log"), "w");
    onTestFinished(() => log.close());
    const { io, printed, stop } = await createTestIo({ logFd: log.fd });
    const port = await closedPort();
    const flags = [`--config.file=${file("config.yaml")}`, `--web.config.file=${file("web.yaml")}`];
    const web = [`--web.listen-address=127.0.0.1:${port}`, "--web.enable-lifecycle"];
    const ended = runProgram(["run", ...flags, ...web, "--log.level=debug", `--log.format=${format}`], io);
    onTestFinished(stop);
    const said: string[] = [];
    const ask = async (path: string, password = PASSWORDS.operator, method = "GET"): Promise<number> => {
      const question = { ca: AUTHORITY.cert, auth: `operator:${password}`, method };
      const { status, headers, body } = await request(port, path, question);
      said.push(`${status} ${JSON.stringify(headers)}\n${body.toString()}`);
      return status;
    };

    await eventually(async () => expect(await ask("/-/ready")).toBe(200));
    for (const path of PATHS) for (const password of Object.values(PASSWORDS)) await ask(path, password);
    for (const bad of BAD_WEB_CONFIGS) {
      await writeFile(file("web.yaml"), `${bad}\n`);
      expect(await ask("/-/reload", PASSWORDS.operator, "POST")).toBe(500);
    }
    await writeFile(file("web.yaml"), webConfig());
    expect(await ask("/-/reload", PASSWORDS.operator, "POST")).toBe(200);
    const url = `--url=https://127.0.0.1:${port}`;
    for (const name of ["right", "wrong", "bad"])
      said.push(await outputOf("status", url, `--http.config.file=${file(`${name}.yaml`)}`, "--output=json"));
    said.push(await outputOf("status", `--url=https://operator:${PASSWORDS.operator}@127.0.0.1:${port}`));
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
    // The echoes are there, without the secrets.
    expect(said.join("\n")).toContain('interface="0 Basic <secret>"');
    expect(leaksIn([logged, printed.out, printed.err, ...said].join("\n"))).toEqual([]);
  },
);

test("no command shows echoed secrets or those of a web configuration", async () => {
  const { file } = await setUp();
  const outputs: string[] = [];
  const config = `--config.file=${file("config.yaml")}`;
  for (const form of ["table", "json"]) {
    outputs.push(await outputOf("check", "--live", config, `--output=${form}`));
    for (const name of Object.keys(ECHOES))
      for (const raw of [[], ["--raw"]])
        outputs.push(await outputOf("poll", name, ...raw, config, `--output=${form}`));
  }
  expect(outputs.join("\n")).toContain("Basic <secret>");
  for (const bad of BAD_WEB_CONFIGS.slice(0, -1)) {
    await writeFile(file("web.yaml"), `${bad}\n`);
    const address = `--web.listen-address=127.0.0.1:${await closedPort()}`;
    const output = await outputOf("run", config, `--web.config.file=${file("web.yaml")}`, address);
    expect(output).toMatch(/web\.yaml:\d+:\d+: /);
    outputs.push(output);
  }
  for (const command of ["run", "check", "poll", "status", "appliance", "demo"])
    outputs.push(await outputOf(command, "--help"));
  expect(leaksIn(outputs.join("\n"))).toEqual([]);
});
