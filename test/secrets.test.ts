import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../src/cli/program.ts";
import { listen } from "./appliance/support.ts";
import { createFolder } from "./config/folder.ts";
import { createLeakSearch } from "./support/canaries.ts";
import { createAuthority } from "./support/certificates.ts";
import { eventually } from "./support/eventually.ts";
import { scrape } from "./support/exporter.ts";
import { closedPort } from "./support/fault-server.ts";
import { createTestIo } from "./support/io.ts";

const AUTHORITY = await createAuthority();
const SERVER = await AUTHORITY.issue();
const CLIENT = await AUTHORITY.issue();

/** Each where a secret may be written, with characters that URLs and base64 write otherwise. */
const SECRETS = {
  inline: "inline/c4n+ry?1",
  file: "file/c4n+ry?2",
  proxy: "proxy/c4n+ry?3",
  baseUrl: "url/c4n+ry?4",
  mistake: "mistake/c4n+ry?5",
};
const USERS = ["monitor", "px", "u"];

const leaksIn = createLeakSearch({
  // The last two: what is left of each where something has cut it.
  texts: [...Object.values(SECRETS), "c4n+ry", "c4n%2Bry"],
  users: USERS,
  keys: [CLIENT.key],
});

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

interface Stage {
  readonly folder: string;
  readonly file: string;
  readonly goodConfig: string;
}

/** Appliances whose polls succeed and fail with every kind of secret. */
async function setUp(): Promise<Stage> {
  const [good, byFile, refusing] = await Promise.all(
    [SECRETS.inline, SECRETS.file, "another password"].map(startAppliance),
  );
  const proxy = await listen(
    createServer().on("connect", (_, socket) => socket.end("HTTP/1.1 407 No\r\n\r\n")),
  );
  const credentials = `px:${encodeURIComponent(SECRETS.proxy)}`;
  const inline = `{ username: monitor, password: "${SECRETS.inline}" }`;
  const goodConfig = `
# ${SECRETS.mistake}
polling: { vrrp: { interval: 1s } }
http_client:
  basic_auth: ${inline}
  tls_config: { ca_file: ca.pem, cert_file: client.pem, key_file: client.key }
appliances:
  - { name: inline, base_url: "https://127.0.0.1:${good}" }
  - { name: file, base_url: "https://127.0.0.1:${byFile}", http_client: { basic_auth: { username: monitor, password_file: password } } }
  - { name: refusing, base_url: "https://127.0.0.1:${refusing}", http_client: { basic_auth: { username: monitor, password_file: password } } }
  - { name: refusing-inline, base_url: "https://127.0.0.1:${refusing}" }
  - { name: proxied, base_url: "https://127.0.0.1:${good}", http_client: { proxy_url: "http://${credentials}@127.0.0.1:${proxy}" } }
  - { name: lost, base_url: "https://127.0.0.1:${good}", http_client: { proxy_url: "http://${credentials}@127.0.0.1:${await closedPort()}" } }
  - { name: nameless, base_url: "https://127.0.0.1:${good}", http_client: { proxy_url: "http://${credentials}@nowhere.invalid" } }
`;
  const folder = await createFolder({
    "config.yaml": goodConfig,
    "ca.pem": AUTHORITY.cert,
    "client.pem": CLIENT.cert,
    "client.key": CLIENT.key,
    password: `${SECRETS.file}\n`,
  });
  return { folder, file: join(folder, "config.yaml"), goodConfig };
}

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

/** A command's whole output. */
async function outputOf(...argv: readonly string[]): Promise<string> {
  const { io, printed } = await createTestIo();
  await runProgram(argv, io);
  return printed.out + printed.err;
}

async function pageOf(url: string, path: string, method = "GET"): Promise<string> {
  const response = await fetch(url + path, { method });
  return `${response.status} ${JSON.stringify([...response.headers])}\n${await response.text()}`;
}

test.each(["json", "logfmt"])(
  "no page and no line of a log in %s shows a secret, whatever polls and reloads come to",
  async (format) => {
    const { folder, file, goodConfig } = await setUp();
    const logFile = join(folder, "log");
    const log = await open(logFile, "w");
    onTestFinished(() => log.close());
    const { io, printed, stop, hangUp } = await createTestIo({ logFd: log.fd });
    const address = `127.0.0.1:${await closedPort()}`;
    const url = `http://${address}`;
    const flags = [`--config.file=${file}`, `--web.listen-address=${address}`, "--web.enable-lifecycle"];
    const ended = runProgram(["run", ...flags, "--log.level=debug", `--log.format=${format}`], io);
    onTestFinished(stop);
    const pages: string[] = [];
    const takePages = async () => {
      for (const path of ["/", "/metrics", "/config", "/-/healthy", "/-/ready", "/none"])
        pages.push(await pageOf(url, path));
    };

    await eventually(async () => {
      const samples = await scrape(url);
      for (const appliance of ["inline", "file"])
        expect(samples.value("appliance_up", { appliance })).toBe(1);
      for (const appliance of ["refusing", "refusing-inline", "proxied", "lost", "nameless"])
        expect(samples.value("appliance_up", { appliance })).toBe(0);
    });
    await takePages();
    for (const bad of BAD_CONFIGS) {
      await writeFile(file, `${bad}\n`);
      const page = await pageOf(url, "/-/reload", "POST");
      expect(page).toMatch(/^500 /);
      pages.push(page);
    }
    hangUp();
    await takePages();
    await writeFile(file, `${goodConfig.replaceAll("interval: 1s", "interval: 2s")}\n`);
    const page = await pageOf(url, "/-/reload", "POST");
    expect(page).toMatch(/^200 /);
    pages.push(page);
    await takePages();
    stop();
    expect(await ended).toBe(0);

    const logged = await readFile(logFile, "utf8");
    for (const line of [
      "polling fails",
      "poll completed",
      "configuration is invalid",
      "configuration reloaded",
    ])
      expect(logged).toContain(line);
    expect(pages.join("\n")).toContain('"password": "<secret>"');
    expect(pages.join("\n")).toContain("http://<secret>@nowhere.invalid");
    expect(leaksIn([logged, printed.out, printed.err, ...pages].join("\n"))).toEqual([]);
  },
);

test("no command shows a secret, in a table, in JSON or as it came", async () => {
  const { file } = await setUp();
  const names = ["inline", "file", "refusing", "proxied", "lost", "nameless"];
  const outputs: string[] = [];
  for (const form of ["table", "json"]) {
    const flags = [`--config.file=${file}`, `--output=${form}`];
    outputs.push(await outputOf("check", ...flags), await outputOf("check", "--live", ...flags));
    for (const name of names) outputs.push(await outputOf("poll", name, "--raw", ...flags));
  }
  for (const bad of BAD_CONFIGS) {
    await writeFile(file, `${bad}\n`);
    const flags = [`--config.file=${file}`];
    for (const argv of [["run"], ["check"], ["check", "--output=json"], ["poll", "a"]])
      outputs.push(await outputOf(...argv, ...flags));
  }
  for (const command of ["run", "check", "poll", "appliance", "demo"])
    outputs.push(await outputOf(command, "--help"));
  expect(outputs.every((output) => output !== "")).toBe(true);
  expect(leaksIn(outputs.join("\n"))).toEqual([]);
});

test("the search finds secrets in every form", () => {
  const { inline } = SECRETS;
  const basic = Buffer.from(`monitor:${inline}`).toString("base64");
  for (const text of [inline, `Basic ${basic}`, `http://u:${encodeURIComponent(inline)}@h`, CLIENT.key])
    expect(leaksIn(`x ${text} y`)).not.toEqual([]);
});
