import { X509Certificate } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { generate } from "selfsigned";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { AUTHORITY, CARP0, listen, startAppliance, websiteOf } from "../appliance/support.ts";
import { answering, OK, serve, servePlain } from "../client/support.ts";
import { createFolder, type Files } from "../config/folder.ts";
import { createTestIo } from "../support/io.ts";

const AUTHORITY_NAME = new X509Certificate(AUTHORITY.cert).subject.replace("CN=", "");

/** A reference appliance with a website, a closed port, and a configuration with both. */
async function setUp(password = "pass:word"): Promise<{ file: string; address: string }> {
  const website = await listen(createServer((_, response) => response.writeHead(404).end()));
  const appliance = await startAppliance({
    vrrp: async () => ({ ok: true, interfaces: [CARP0] }),
    websites: [websiteOf({ id: 7, protocol: "http", httpPort: website })],
  });
  const address = `127.0.0.1:${appliance.port}`;
  const folder = await createFolder({
    "ca.pem": AUTHORITY.cert,
    password: `${password}\n`,
    "config.yaml": `
http_client:
  basic_auth: { username: monitor, password_file: password }
  tls_config: { ca_file: ca.pem }
appliances:
  - { name: fw-a, base_url: "https://${address}", websites: [{ id: 7, name: shop }] }
  - { name: fw-b, base_url: "https://127.0.0.1:1" }
  - { name: fw-c, base_url: "https://127.0.0.1:1", enabled: false }
`,
  });
  return { file: join(folder, "config.yaml"), address };
}

async function run(...argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, printed } = await createTestIo();
  return { code: await runProgram(argv, io), ...printed };
}

test("check reports a valid configuration", async () => {
  const { file } = await setUp();
  expect(await run("check", `--config.file=${file}`)).toEqual({
    code: 0,
    out: `${file}: valid, appliances: 2 enabled, 1 disabled\n`,
    err: "",
  });
});

test("check --live polls each enabled appliance, tests each website, and shows the certificate", async () => {
  const { file } = await setUp();
  const { code, out } = await run("check", `--config.file=${file}`, "--live");
  expect(code).toBe(1);
  const [, sha256 = "none"] = /([0-9a-f]{64})/.exec(out) ?? [];
  expect(
    out.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, "<end of validity.>").replace(sha256, "<sha256>"),
  ).toBe(
    `${file}: valid, appliances: 2 enabled, 1 disabled

APPLIANCE  CLUSTER  POLLED            RESULT   DETAIL
fw-a       fw-a     vrrp list         ok       1 interface
fw-a       fw-a     website 7 (shop)  ok       http 404
fw-b       fw-b     vrrp list         connect  connect ECONNREFUSED 127.0.0.1:1

APPLIANCE  CERTIFICATE ENDS      SHA256                                                            ISSUER
fw-a       <end of validity.>  <sha256>  CN=${AUTHORITY_NAME}

What to do:
fw-b: Check host and port of https://127.0.0.1:1, and whether a firewall blocks them.
`,
  );
});

test("check --live as JSON contains the certificate and the failure", async () => {
  const { file } = await setUp("wrong");
  const { code, out } = await run("check", `--config.file=${file}`, "--live", "--output=json");
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    enabled: 2,
    disabled: 1,
    appliances: [
      {
        appliance: "fw-a",
        ok: false,
        failure: { reason: "auth", status: 401 },
        certificate: { issuer: `CN=${AUTHORITY_NAME}` },
      },
      { appliance: "fw-b", ok: false, failure: { reason: "connect" } },
    ],
  });
  expect(out).not.toContain("wrong");
});

/** What `check --live` prints about these appliances, from the table on, and its exit code. */
async function live(config: string, files: Files = {}): Promise<{ code: number; out: string; err: string }> {
  const folder = await createFolder({ "ca.pem": AUTHORITY.cert, "config.yaml": config, ...files });
  const { code, out, err } = await run("check", `--config.file=${folder}/config.yaml`, "--live");
  const plain = (text: string) => text.replaceAll(`${folder}/`, "");
  return { code, out: plain(out), err: plain(err) };
}

const TRUSTING = "http_client: { tls_config: { ca_file: ca.pem }";

/** What `check --live` says to do about an appliance with this base URL. */
async function adviceOn(entry: string, http = `${TRUSTING} }`, files: Files = {}): Promise<string> {
  const { code, out } = await live(`${http}\nappliances: [{ name: fw-a, ${entry} }]\n`, files);
  expect(code).toBe(1);
  return out.split("\nWhat to do:\n")[1] ?? "";
}

const LIST = "/api/v1/interface/virtual";

describe("check --live says what to do about", () => {
  test("websites that do not exist, and protocols that the appliance does not test", async () => {
    const website = await listen(createServer((_, response) => response.end()));
    const { port } = await startAppliance({
      websites: [websiteOf({ id: 1, protocol: "http", httpPort: website })],
    });
    const { code, out } = await live(`
http_client:
  basic_auth: { username: monitor, password: "pass:word" }
  tls_config: { ca_file: ca.pem }
appliances:
  - { name: fw-a, base_url: "https://127.0.0.1:${port}", websites: [{ id: 1, protocol: both }, 2] }
`);
    expect(code).toBe(1);
    expect(out).toContain(`fw-a       fw-a     website 1  no https     http 200, https 0
fw-a       fw-a     website 2  http_status  answered with status 404
`);
    expect(out.split("\nWhat to do:\n")[1]).toBe(
      "fw-a: The appliance does not test website 1 over https: correct its protocol.\n" +
        "fw-a: The appliance has no website 2: check the id.\n",
    );
  });

  test.each([
    ["", "The appliance demands credentials: set http_client.basic_auth."],
    [
      ", basic_auth: { username: monitor, password: wrong }",
      'The appliance refuses the credentials: check user "monitor" and the password.',
    ],
    [
      ", basic_auth: { username: monitor, password_file: secrets/p }",
      'The appliance refuses the credentials: check user "monitor" and the password in "secrets/p".',
    ],
  ])("status 401 with %j", async (auth, advice) => {
    const { port } = await startAppliance();
    const http = `${TRUSTING}${auth} }`;
    expect(await adviceOn(`base_url: "https://127.0.0.1:${port}"`, http, { "secrets/p": "wrong" })).toBe(
      `fw-a: ${advice}\n`,
    );
  });

  test.each([401, 403])("status %i of a website test, where the list succeeds", async (status) => {
    const port = await listen(
      createServer(({ url = "" }, response) =>
        url.endsWith(LIST) ? response.end("{}") : response.writeHead(status).end(),
      ),
    );
    const http = "http_client: { basic_auth: { username: monitor, password: p } }";
    const entry = `base_url: "http://127.0.0.1:${port}", allow_http: true, websites: [1]`;
    expect(await adviceOn(entry, http)).toBe(
      'fw-a: The appliance does not permit this: check the permissions of user "monitor" on it.\n',
    );
  });

  test.each([
    ["a redirect", 302, ""],
    ["a web page", 200, "<html></html>"],
    ["status 404, also of the websites", 404, ""],
  ])("%s instead of the list", async (_, status, body) => {
    const port = await listen(createServer((__, response) => response.writeHead(status).end(body)));
    const entry = `base_url: "http://127.0.0.1:${port}", allow_http: true, websites: [1]`;
    expect(await adviceOn(entry)).toBe(
      `fw-a: Check port and path of http://127.0.0.1:${port}: the exporter adds ${LIST}.\n`,
    );
  });

  test("an answer that does not come", async () => {
    const { port } = await servePlain(() => {});
    const entry = `base_url: "https://127.0.0.1:${port}", polling: { vrrp: { timeout: 100ms } }`;
    expect(await adviceOn(entry)).toBe(
      `fw-a: Check host and port of https://127.0.0.1:${port}, and whether a firewall blocks them.\n`,
    );
  });

  test("a client certificate that the appliance demands", async () => {
    const { cert, key, ca } = { ...(await AUTHORITY.issue()), ca: AUTHORITY.cert };
    const { port } = await serve(answering(OK), { cert, key, ca, requestCert: true });
    const sha256 = new X509Certificate(cert).fingerprint256;
    const http = `http_client: { tls_config: { certificate_sha256: ["${sha256}"] } }`;
    expect(await adviceOn(`base_url: "https://127.0.0.1:${port}"`, http)).toBe(
      "fw-a: The appliance demands a client certificate: set tls_config.cert_file and tls_config.key_file.\n",
    );
  });

  test("a port that does not speak TLS", async () => {
    const { port } = await servePlain(({ socket }) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
    expect(await adviceOn(`base_url: "https://127.0.0.1:${port}"`)).toBe(
      "fw-a: The port does not speak TLS: check the port in base_url. If it speaks HTTP, use the HTTPS port, " +
        "or http:// with allow_http: true, which sends the password unencrypted.\n",
    );
  });

  test.each([
    [
      "",
      "If the certificate is self-signed, set tls_config.known_certificates_file and run appliance-exporter trust.",
    ],
    [
      "http_client: { tls_config: { known_certificates_file: known } }",
      "Run appliance-exporter trust, and compare each SHA-256 with the one that the appliance itself shows.",
    ],
  ])("a certificate that is not trusted with %j", async (http, advice) => {
    const { port } = await startAppliance();
    expect(await adviceOn(`base_url: "https://127.0.0.1:${port}"`, http)).toBe(`fw-a: ${advice}\n`);
  });
});

test("check warns about appliances without a known certificate", async () => {
  const folder = await createFolder({
    "config.yaml": `
http_client: { tls_config: { known_certificates_file: known } }
appliances:
  - { name: fw-a, base_url: "https://a" }
  - { name: fw-b, base_url: "https://b" }
  - { name: fw-c, base_url: "https://c", enabled: false }
  - { name: fw-d, base_url: "http://d", allow_http: true }
  - { name: fw-f, base_url: "https://f", http_client: { tls_config: { certificate_sha256: [] } } }
`,
    known: `fw-b ${"00".repeat(32)}\nfw-f ${"00".repeat(32)}\n`,
  });
  const file = join(folder, "config.yaml");
  expect(await run("check", `--config.file=${file}`)).toEqual({
    code: 0,
    out: `${file}: valid, appliances: 4 enabled, 1 disabled\n`,
    err: `${file}: warning: ${folder}/known lacks fw-a: run appliance-exporter trust\n`,
  });
});

test("check --live warns about one appliance under two names, and about expired certificates that are pinned", async () => {
  const expired = await generate([{ name: "commonName", value: "old" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notBeforeDate: new Date("2020-01-01T00:00:00Z"),
    notAfterDate: new Date("2021-01-01T00:00:00Z"),
  });
  const { fingerprint256 } = new X509Certificate(expired.cert);
  const answer = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  const { port } = await serve(answer, { cert: expired.cert, key: expired.private });
  const { code, err } = await live(`
http_client: { tls_config: { certificate_sha256: ["${fingerprint256}"] } }
appliances:
  - { name: fw-a, base_url: "https://127.0.0.1:${port}" }
  - { name: fw-b, base_url: "https://localhost:${port}", enabled: true }
`);
  expect(code).toBe(0);
  expect(err).toBe(
    `config.yaml: warning: several appliances have one address: https://127.0.0.1:${port} (fw-a, fw-b)\n` +
      "config.yaml: warning: certificates have expired, which polls ignore as they are pinned: fw-a (2021-01-01T00:00:00Z), fw-b (2021-01-01T00:00:00Z)\n",
  );
});

test("poll shows the results of an appliance and its samples", async () => {
  const { file } = await setUp();
  const { code, out } = await run("poll", "fw-a", `--config.file=${file}`);
  expect(code).toBe(0);
  expect(out.replaceAll(/\d\.\d{3} s/g, "<time>")).toContain(`OPERATION       RESULT  DURATION  DETAIL
vrrp            ok      <time>   1 interface
website_test/7  ok      <time>   http 404

vrrp_is_master{appliance="fw-a",ha_cluster="fw-a",interface="carp0",vhid="2",vip="192.0.2.100"} 1
`);
  expect(out).toContain(
    'website_up{appliance="fw-a",ha_cluster="fw-a",website_id="7",website="shop",protocol="http"} 0\n',
  );
});

test("poll --raw shows the response bodies", async () => {
  const { file } = await setUp();
  const { code, out } = await run("poll", "fw-a", `--config.file=${file}`, "--raw");
  expect(code).toBe(0);
  expect(out).toContain(
    '\nvrrp:\n{"carp0":{"advskew":"50","alias":[],"carppeer":"224.0.0.18","if":"eth1","netmask":"255.255.255.0",' +
      '"priority":"204","state_current":"MASTER","type":"1","vhid":"2","vip":"192.0.2.100"}}\n',
  );
  expect(out).toContain(
    String.raw`"HTTP CONNECT ------------------------------------------------- HTTP\nHTTP\/1.1 404 Not Found\n`,
  );
});

test("poll --raw escapes control characters on a terminal only", async () => {
  const body = '{\r\n\t"car\u001B[31mp0\u009B\u202E": 1\n}';
  const port = await listen(createServer((_, response) => response.end(body)));
  const appliance = { name: "fw-a", base_url: `http://127.0.0.1:${port}`, allow_http: true };
  const folder = await createFolder({ "config.yaml": JSON.stringify({ appliances: [appliance] }) });
  const bodyOf = async (isTerminal: boolean, output: string): Promise<string> => {
    const { io, printed } = await createTestIo({ isTerminal });
    await runProgram(
      ["poll", "fw-a", `--config.file=${folder}/config.yaml`, "--raw", `--output=${output}`],
      io,
    );
    return printed.out;
  };
  expect(await bodyOf(false, "table")).toContain(`\nvrrp:\n${body}\n`);
  expect(await bodyOf(true, "table")).toContain('\nvrrp:\n{\n\t"car\\u{1B}[31mp0\\u{9B}\\u{202E}": 1\n}\n');
  const json = await bodyOf(false, "json");
  expect(json).not.toMatch(/[^\n -~]/);
  expect(JSON.parse(json)).toMatchObject({ operations: [{ body }] });
});

test("poll exits 1 after a failure, with the reason in JSON", async () => {
  const { file } = await setUp();
  const { code, out } = await run("poll", "fw-b", `--config.file=${file}`, "--output=json");
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    appliance: "fw-b",
    cluster: "fw-b",
    operations: [{ operation: "vrrp", ok: false, failure: { reason: "connect" } }],
  });
});
