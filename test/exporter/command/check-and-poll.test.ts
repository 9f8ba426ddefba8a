import { X509Certificate } from "node:crypto";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../../src/program/program.ts";
import { AUTHORITY, CARP0, listen, startAppliance, websiteOf } from "../../appliance/support.ts";
import { answering, OK, serve, servePlain } from "../client/support.ts";
import { createFolder, type Files } from "../config/folder.ts";
import { createIntermediateChain, selfSigned } from "../../support/certificates.ts";
import { portOf } from "../../support/fault-server.ts";
import { createTestIo } from "../../support/io.ts";

const AUTHORITY_NAME = new X509Certificate(AUTHORITY.cert).subject.replace("CN=", "");

/** A reference appliance with a website, a closed port, and a configuration with both. */
async function setUp(password = "pass:word", status = 404): Promise<{ file: string; address: string }> {
  const website = await listen(createServer((_, response) => response.writeHead(status).end()));
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

test("check --live polls each enabled appliance, tests each website, and shows failures first and certificates if asked", async () => {
  const { file } = await setUp("pass:word", 200);
  const { code, out } = await run("check", `--config.file=${file}`, "--live", "--certificates");
  expect(code).toBe(1);
  const [, sha256 = "none"] = /((?:[0-9A-F]{2}:){31}[0-9A-F]{2})/.exec(out) ?? [];
  expect(
    out
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, "<end of validity.>")
      .replace(sha256, "<sha256>")
      .replaceAll(/\d\.\d{3} s/g, "<time>"),
  ).toBe(
    `${file}: valid, appliances: 2 enabled, 1 disabled

APPLIANCE  OPERATION       RESULT   DURATION  DETAIL
fw-b       vrrp            connect  <time>   connect ECONNREFUSED 127.0.0.1:1
fw-a       vrrp            ok       <time>   1 interface, MASTER of 192.0.2.100
fw-a       website_test/7  ok       <time>   http 200

What to do:
fw-b: Nothing listens there: check the port in base_url, and the management service of the appliance

APPLIANCE  CERTIFICATE ENDS      SHA256${" ".repeat(91)}ISSUER
fw-a       <end of validity.>  <sha256>  CN=${AUTHORITY_NAME}

appliances polled: 2, failed: 1 (fw-b)
`,
  );
});

test("check --live polls what is named, and shows with --failed only what fails", async () => {
  const { file } = await setUp("pass:word", 200);
  const polled = async (...flags: readonly string[]) => {
    const { code, out, err } = await run("check", `--config.file=${file}`, "--live", ...flags);
    return { code, err, lines: out.split("\n").slice(2, -1) };
  };
  const failed = [
    expect.stringMatching(/^APPLIANCE +OPERATION/),
    expect.stringMatching(/^fw-b +vrrp +connect/),
    "",
    "What to do:",
    expect.stringMatching(/^fw-b: Nothing listens there: /),
    "",
    "appliances polled: 2, failed: 1 (fw-b)",
  ];
  expect(await polled("--failed")).toEqual({ code: 1, err: "", lines: failed });
  expect(await polled("fw-a", "--failed")).toEqual({
    code: 0,
    err: "",
    lines: ["appliances polled: 1, failed: 0"],
  });
  // A disabled appliance is polled if it is named itself.
  expect((await polled("fw-c")).lines.at(-1)).toBe("appliances polled: 1, failed: 1 (fw-c)");
  expect(await polled("fw-x")).toMatchObject({
    code: 2,
    err: `unknown appliance "fw-x"; ${file} has fw-a, fw-b and fw-c\n`,
  });
});

/** An appliance whose websites answer over HTTP and HTTPS with these status lines, or do not, in a configuration. */
async function withWebsites(answers: Readonly<Record<number, string>>, websites: string): Promise<string> {
  const port = await listen(
    createServer(({ url = "" }, response) => {
      const [, id = ""] = /^\/api\/v1\/website\/(\d+)\/test$/.exec(url) ?? [];
      response.end(id === "" ? "{}" : JSON.stringify(answers[Number(id)]));
    }),
  );
  const appliance = `{ name: fw-a, base_url: "http://127.0.0.1:${port}", allow_http: true, websites: ${websites} }`;
  const folder = await createFolder({ "config.yaml": `appliances: [${appliance}]` });
  return join(folder, "config.yaml");
}

/** The text of a test over one protocol, which has this answer. */
function block(protocol: string, answer: string): string {
  return `${protocol} CONNECT ${"-".repeat(49)} ${protocol}\n${answer}\n\n`;
}

const DOWN = {
  1: block("HTTPS", "HTTP/1.1 501 Not Implemented"),
  2: block("HTTP", "HTTP/1.1 301 Moved Permanently") + block("HTTPS", "HTTP/1.1 503 Service Unavailable"),
  3: block("HTTP", "curl: (7) Failed to connect") + block("HTTPS", "HTTP/2 404 "),
  4: block("HTTP", "HTTP/1.1 200 OK"),
  5: block("HTTP", "HTTP/1.1 401 Unauthorized"),
  6: block("HTTP", "HTTP/1.1 500 Internal Server Error"),
} as const;
const DOWN_WEBSITES =
  "[1, 2, { id: 3, expect_status: [200, 301-302] }, { id: 4, expect_status: [401] }, { id: 5, expect_status: [401] }, { id: 6, protocol: both }]";

test("check --live fails where a website has a status that is not expected, and names it for each protocol", async () => {
  const file = await withWebsites(DOWN, DOWN_WEBSITES);
  const { code, out } = await run("check", `--config.file=${file}`, "--live");
  const rows = out.split("\n").map((line) => line.replace(/\d\.\d{3} s/, "TIME").replaceAll(/ {2,}/g, " "));
  expect(rows.slice(2)).toEqual([
    "APPLIANCE OPERATION RESULT DURATION DETAIL",
    "fw-a website_test/1 unexpected TIME https 501 is not among expect_status (200-399)",
    "fw-a website_test/2 unexpected TIME http 301, https 503 is not among expect_status (200-399)",
    "fw-a website_test/3 unexpected TIME http no HTTP response (curl: (7) Failed to connect) is not among expect_status (200, 301-302), " +
      "https 404 is not among expect_status (200, 301-302)",
    "fw-a website_test/4 unexpected TIME http 200 is not among expect_status (401)",
    "fw-a website_test/6 no https, unexpected TIME http 500 is not among expect_status (200-399), the appliance does not test https",
    "fw-a vrrp ok TIME 0 interfaces",
    "fw-a website_test/5 ok TIME http 401",
    "",
    "appliances polled: 1, failed: 1 (fw-a)",
    "",
  ]);
  expect(code).toBe(1);
});

test("check --live as JSON has the statuses that are not expected; of poll they are no failure", async () => {
  const file = await withWebsites(DOWN, DOWN_WEBSITES);
  const { code, out } = await run("check", `--config.file=${file}`, "--live", "--output=json");
  expect(code).toBe(1);
  const { ok, appliances } = JSON.parse(out);
  expect(ok).toBe(false);
  expect(appliances[0].operations[2]).toMatchObject({
    operation: "website_test/2",
    ok: false,
    result: "unexpected",
    value: [
      { protocol: "http", status: 301, isUp: true },
      { protocol: "https", status: 503, isUp: false },
    ],
    unexpected: ["https 503 is not among expect_status (200-399)"],
  });
  expect(appliances[0].operations[5]).toMatchObject({ ok: true, result: "ok", unexpected: [] });
  const polled = await run("poll", "fw-a", `--config.file=${file}`, "--output=json");
  const [, , website] = JSON.parse(polled.out).operations;
  expect([website.ok, website.result, website.unexpected]).toEqual([true, "ok", undefined]);
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
        operations: [{ operation: "vrrp", ok: false, failure: { reason: "auth", status: 401 } }],
        certificate: { issuer: `CN=${AUTHORITY_NAME}` },
      },
      { appliance: "fw-b", ok: false, operations: [{ failure: { reason: "connect" } }] },
    ],
  });
  expect(out).not.toContain("wrong");
});

test("poll as JSON says what is wrong with the configuration too", async () => {
  const folder = await createFolder({ "config.yaml": "appliances: [{ nam: a }]" });
  const { code, out, err } = await run("poll", "a", `--config.file=${folder}/config.yaml`, "--output=json");
  expect([code, err]).toEqual([1, ""]);
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    errors: [{ message: "required key is missing" }, {}, {}],
  });
});

/** What `check --live` prints about these appliances, from the table on, and its exit code. */
async function live(
  config: string,
  files: Files = {},
  ...flags: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  const folder = await createFolder({ "ca.pem": AUTHORITY.cert, "config.yaml": config, ...files });
  const { code, out, err } = await run("check", `--config.file=${folder}/config.yaml`, "--live", ...flags);
  const plain = (text: string) => text.replaceAll(`${folder}/`, "");
  return { code, out: plain(out), err: plain(err) };
}

test("check --live says what to do", async () => {
  const website = await listen(createServer((_, response) => response.end()));
  const { port } = await startAppliance({
    websites: [websiteOf({ id: 1, protocol: "http", httpPort: website })],
  });
  const ssh = await servePlain(({ socket }) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
  const plain = [
    await listen(createServer((_, response) => response.writeHead(403).end())),
    await listen(createServer((_, response) => response.writeHead(404).end())),
    await listen(createServer((_, response) => response.writeHead(400).end())),
  ];
  const old = await AUTHORITY.issue({ notBefore: new Date(0), notAfter: new Date(1_600_000_000_000) });
  const { port: expired } = await serve(answering(OK), old);
  const { code, out } = await live(
    `
http_client:
  basic_auth: { username: monitor, password: "pass:word" }
appliances:
  - { name: tests, base_url: "https://127.0.0.1:${port}", websites: [{ id: 1, protocol: both }, 2, 3], http_client: &ca { tls_config: { ca_file: ca.pem } } }
  - { name: wrong, base_url: "https://127.0.0.1:${port}", http_client: { <<: *ca, basic_auth: { username: monitor, password: wrong } } }
  - { name: file, base_url: "https://127.0.0.1:${port}", http_client: { <<: *ca, basic_auth: { username: monitor, password_file: secrets/p } } }
${plain
  .slice(0, 2)
  .map(
    (each, nth) =>
      `  - { name: plain-${nth}, base_url: "http://127.0.0.1:${each}/mgmt", allow_http: true, websites: [1] }\n`,
  )
  .join("")}
  - { name: ssh, base_url: "https://127.0.0.1:${ssh.port}" }
  - { name: tls, base_url: "http://127.0.0.1:${port}", allow_http: true }
  - { name: nginx, base_url: "http://127.0.0.1:${plain[2]}", allow_http: true }
  - { name: expired, base_url: "https://127.0.0.1:${expired}", http_client: *ca }
  - { name: portless, base_url: "https://127.255.255.255" }
  - { name: untrusted, base_url: "https://127.0.0.1:${port}" }
  - { name: named, base_url: "https://127.0.0.1:${port}", http_client: { tls_config: { ca_file: ca.pem, server_name: other.example } } }
  - { name: unknown, base_url: "https://127.0.0.1:${port}", http_client: { tls_config: { known_certificates_file: known } } }
`,
    { "secrets/p": "wrong" },
  );
  expect(code).toBe(1);
  expect(out).toMatch(
    /^tests +website_test\/1 +no https +\d\.\d{3} s +http 200, the appliance does not test https$/m,
  );
  expect(out).toMatch(
    /^tests +website_test\/2 +http_status .* the appliance has no website with this id: answered with status 404$/m,
  );
  expect(out).toMatch(
    /^unknown .* the certificate is not known yet, SHA-256 [\dA-F:]{95}: run appliance-exporter trust unknown$/m,
  );
  const credentials = 'Check user "monitor", its permissions on the appliance, and the password';
  const [advice, certificates = ""] = out.split("\nWhat to do:\n")[1]?.split("\nAPPLIANCE") ?? [];
  expect(certificates.match(/^\S+ +\d{4}-/gm)?.map((row) => row.replace(/ .*/, ""))).toEqual([
    "expired",
    "untrusted",
    "named",
    "unknown",
  ]);
  expect(certificates).toMatch(
    /\n\nappliances polled: 13, failed: 13 \(tests, wrong, file, plain-0, plain-1 and 8 more\)\n$/,
  );
  expect(advice).toBe(
    "tests: The appliance has no website with the ids 2 and 3, it has 1: correct websites, or set website_discovery: true\n" +
      `wrong: ${credentials}\n` +
      `file: ${credentials} in "secrets/p"\n` +
      `plain-0: ${credentials}\n` +
      `plain-1: Check the port and the path of http://127.0.0.1:${plain[1]}/mgmt: the exporter adds /api/v1/interface/virtual\n` +
      "ssh: The port does not speak TLS: check the port in base_url, or write http:// with allow_http, which sends the password unencrypted\n" +
      "tls: If the port speaks TLS, write https:// in place of http://\n" +
      "nginx: If the port speaks TLS, write https:// in place of http://\n" +
      "expired: Renew the certificate on the appliance, or trust it although it has expired: set tls_config.known_certificates_file in place of ca_file and run appliance-exporter trust\n" +
      "portless: Add the port of the management API to base_url, such as :4849: it has none, or the usual one of its scheme\n" +
      "untrusted: The appliance does not send the certificate of its issuer: add that there or to ca_file, or run appliance-exporter trust\n" +
      "named: The certificate has other names than base_url: set tls_config.server_name to one of them\n" +
      "unknown: Compare the SHA-256 with the one that the appliance itself shows, then run appliance-exporter trust or correct certificate_sha256\n",
  );
});

test("check --live says that credentials are missing", async () => {
  const { port } = await startAppliance();
  const { out } = await live(`
http_client: { tls_config: { ca_file: ca.pem } }
appliances: [{ name: fw-a, base_url: "https://127.0.0.1:${port}" }]
`);
  expect(out.split("\nWhat to do:\n")[1]).toBe(
    "fw-a: The appliance demands credentials: set http_client.basic_auth\n\nappliances polled: 1, failed: 1 (fw-a)\n",
  );
});

test("check --live warns about one appliance under two names, and about expired certificates that are pinned", async () => {
  const expired = await selfSigned("old", {
    notBefore: new Date("2020-01-01T00:00:00Z"),
    notAfter: new Date("2021-01-01T00:00:00Z"),
  });
  const { fingerprint256 } = new X509Certificate(expired.cert);
  const { port } = await serve(answering(OK), expired);
  const { code, err } = await live(`
http_client: { tls_config: { certificate_sha256: ["${fingerprint256}"] } }
appliances:
  - { name: fw-a, base_url: "https://127.0.0.1:${port}" }
  - { name: fw-b, base_url: "https://localhost:${port}", enabled: true }
`);
  expect(code).toBe(0);
  expect(err).toBe(
    `config.yaml: warning: appliances share addresses: https://127.0.0.1:${port} (fw-a and fw-b)\n` +
      "config.yaml: warning: pinned certificates have expired, which polls ignore: fw-a (2021-01-01T00:00:00Z) and fw-b (2021-01-01T00:00:00Z)\n",
  );
});

test("check --live warns about a certificate, or one that signed it, that expires soon", async () => {
  const soon = new Date(Date.now() + 3 * 86_400_000);
  const { root, intermediate, leaf } = await createIntermediateChain({ intermediate: soon });
  const { port } = await serve(answering(OK), { key: leaf.key, cert: `${leaf.cert}\n${intermediate}` });
  const folder = await createFolder({
    "ca.pem": root,
    "config.yaml": `
http_client: { tls_config: { ca_file: ca.pem } }
appliances: [{ name: a, base_url: "https://127.0.0.1:${port}" }]
`,
  });
  const { code, out, err } = await run("check", `--config.file=${join(folder, "config.yaml")}`, "--live");
  const end = `${soon.toISOString().slice(0, 19)}Z, the intermediate CN=an intermediate`;
  expect(code).toBe(0);
  expect(err).toContain(`: warning: certificates expire within 14 days: a (${end})\n`);
  expect(out).toContain(`\na          ${end}  `);
});

/** The port of one appliance that answers at each address of this host, with a certificate that signs itself. */
async function atAllAddresses(interfaces: Readonly<Record<string, unknown>>): Promise<number> {
  const server = createTlsServer(await selfSigned("waf"), (_, response) =>
    response.end(JSON.stringify(interfaces)),
  );
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  onTestFinished(() => void server.close());
  return portOf(server);
}

const UNVERIFIED = "http_client: { tls_config: { insecure_skip_verify: true } }";
const VIP_WARNING =
  "config.yaml: warning: the host of base_url is a VIP or alias that an appliance reports; use the appliance's own address: ";
const ALIKE_WARNING =
  "config.yaml: warning: members of a cluster have equal certificates and answers, so they may be one appliance: ";

test("check --live says that base_url is a VIP or alias, also by a name, and that its answers are not those of the member", async () => {
  const port = await atAllAddresses({
    carp0: { vhid: "2", vip: "127.0.0.2", alias: ["127.0.0.3"], state_current: "MASTER" },
    carp1: { vhid: "3", vip: "127.0.0.1", state_current: "BACKUP" },
  });
  const { code, out, err } = await live(`
${UNVERIFIED}
clusters:
  - name: ams
    appliances:
      - { name: own, base_url: "https://127.0.0.9:${port}" }
      - { name: vip, base_url: "https://127.0.0.2:${port}" }
      - { name: alias, base_url: "https://127.0.0.3:${port}" }
  - name: rtm
    appliances:
      - { name: named, base_url: "https://localhost:${port}" }
      - { name: other, base_url: "https://127.0.0.8:${port}", enabled: false }
appliances: [{ name: alone, base_url: "https://[::ffff:127.0.0.3]:${port}" }]
`);
  expect(code).toBe(1);
  expect(err).toBe(
    `${VIP_WARNING}vip (127.0.0.2 of own and alone), alias (127.0.0.3 of own and alone), named (127.0.0.1 of own and alone) and alone (127.0.0.3 of own and alone)\n`,
  );
  const rows = out.split("\n").filter((line) => / vrrp /.test(line));
  expect(rows.map((line) => line.replace(/\d\.\d{3} s/, "TIME").replaceAll(/ {2,}/g, " "))).toEqual([
    "vip vrrp vip TIME the answer comes from 127.0.0.2, which is a VIP or alias in it (carp0): use the appliance's own address in base_url",
    "alias vrrp vip TIME the answer comes from 127.0.0.3, which is a VIP or alias in it (carp0): use the appliance's own address in base_url",
    "named vrrp vip TIME the answer comes from 127.0.0.1, which is a VIP or alias in it (carp1): use the appliance's own address in base_url",
    "own vrrp ok TIME 2 interfaces, MASTER of 127.0.0.2, BACKUP of 127.0.0.1, api anomalies: 4",
    "alone vrrp ok TIME 2 interfaces, MASTER of 127.0.0.2, BACKUP of 127.0.0.1, api anomalies: 4",
  ]);
});

/** What `check --live` prints about a pair at these addresses. */
function livePair(a: string, b: string): ReturnType<typeof live> {
  return live(`
${UNVERIFIED}
clusters: [{ name: ams, appliances: [{ name: a, base_url: "https://${a}" }, { name: b, base_url: "https://${b}" }] }]
`);
}

test("check --live warns about a VIP that only its own answer has, and one that has the address of another member", async () => {
  const liar = await atAllAddresses({
    carp0: { vhid: "2", vip: "127.0.0.2", alias: ["127.0.0.7"], state_current: "BACKUP" },
  });
  const good = await atAllAddresses({ carp0: { vhid: "2", vip: "192.0.2.100", state_current: "MASTER" } });
  const { code, err } = await livePair(`127.0.0.2:${liar}`, `127.0.0.1:${good}`);
  expect([code, err]).toEqual([1, `${VIP_WARNING}a (127.0.0.2 of a)\n`]);
  // A member cannot have the answers of another one disregarded.
  const accused = await livePair(`127.0.0.1:${liar}`, `127.0.0.7:${good}`);
  expect([accused.code, accused.err]).toEqual([0, `${VIP_WARNING}b (127.0.0.7 of a)\n`]);
});

test("check --live warns about members of a cluster with equal certificates and answers", async () => {
  const list = { carp0: { vhid: "2", vip: "192.0.2.100", state_current: "MASTER" } };
  const [same, other] = [await atAllAddresses(list), await atAllAddresses(list)];
  const empty = await atAllAddresses({});
  const { code, err } = await live(`
${UNVERIFIED}
clusters:
  - { name: one, appliances: [{ name: a, base_url: "https://127.0.0.1:${same}" }, { name: b, base_url: "https://127.0.0.2:${same}" }] }
  - { name: two, appliances: [{ name: c, base_url: "https://127.0.0.3:${same}" }, { name: d, base_url: "https://127.0.0.1:${other}" }] }
  - { name: new, appliances: [{ name: e, base_url: "https://127.0.0.1:${empty}" }, { name: f, base_url: "https://127.0.0.2:${empty}" }] }
`);
  expect([code, err]).toEqual([0, `${ALIKE_WARNING}one (a and b)\n`]);
});

test("check --live shows a certificate without subject and issuer", async () => {
  const nameless = await selfSigned();
  const { fingerprint256 } = new X509Certificate(nameless.cert);
  const { port } = await serve(answering(OK), nameless);
  const { code, out } = await live(
    `
http_client: { tls_config: { certificate_sha256: ["${fingerprint256}"] } }
appliances: [{ name: fw-a, base_url: "https://127.0.0.1:${port}" }]
`,
    {},
    "--certificates",
  );
  expect(code).toBe(0);
  expect(out).toMatch(/^fw-a .*Z {2}[0-9A-F:]{95}$/m);
  expect(out).toMatch(/^fw-a +vrrp +ok /m);
});

test("poll shows the results of an appliance and its samples", async () => {
  const { file } = await setUp();
  const { code, out } = await run("poll", "fw-a", `--config.file=${file}`);
  expect(code).toBe(0);
  expect(out.replaceAll(/\d\.\d{3} s/g, "<time>"))
    .toContain(`APPLIANCE  OPERATION       RESULT  DURATION  DETAIL
fw-a       vrrp            ok      <time>   1 interface, MASTER of 192.0.2.100
fw-a       website_test/7  ok      <time>   http 404

vrrp_is_master{appliance="fw-a",ha_cluster="fw-a",interface="carp0",vhid="2",vip="192.0.2.100"} 1
`);
  expect(out).toContain(
    'website_up{appliance="fw-a",ha_cluster="fw-a",website_id="7",website="shop",protocol="http"} 0\n',
  );
});

test("poll says of each website what follows a proxy's success, and what is unreadable", async () => {
  const answers: Readonly<Record<string, string>> = {
    "/api/v1/interface/virtual": "{}",
    "/api/v1/website/1/test": testOf(
      "HTTP/1.1 200 OK\nContent-Length: 0\n\nHTTP/1.1 503 Service Unavailable",
    ),
    "/api/v1/website/2/test": testOf("HTTP/1.1 2000 OK"),
  };
  const port = await listen(createServer(({ url = "" }, response) => response.end(answers[url])));
  const base = `{ name: fw-a, base_url: "http://127.0.0.1:${port}", allow_http: true, websites: [1, 2] }`;
  const folder = await createFolder({ "config.yaml": `appliances: [${base}]` });
  const poll = ["poll", "fw-a", `--config.file=${folder}/config.yaml`];
  const { code, out } = await run(...poll);
  const rows = out
    .replaceAll(/\d\.\d{3} s/g, "<time>")
    .split("\n")
    .slice(0, 4);
  expect([code, ...rows]).toEqual([
    1,
    "APPLIANCE  OPERATION       RESULT           DURATION  DETAIL",
    'fw-a       website_test/2  no https status  <time>   https not known: unreadable status line "HTTP/1.1 2000 OK"',
    "fw-a       vrrp            ok               <time>   0 interfaces",
    "fw-a       website_test/1  ok               <time>   https 503",
  ]);
  const operations: unknown = JSON.parse((await run(...poll, "--output=json")).out);
  expect(operations).toMatchObject({
    operations: [
      {},
      { ok: true, result: "ok", value: [{ protocol: "https", status: 503, isUp: false }] },
      {
        ok: false,
        result: "no https status",
        value: [{ protocol: "https", text: 'unreadable status line "HTTP/1.1 2000 OK"' }],
      },
    ],
  });
});

function testOf(answer: string): string {
  return JSON.stringify(`HTTPS CONNECT --- HTTPS\n${answer}\n\n`);
}

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

test("poll --raw shows what an error says, without the password", async () => {
  const answers: Readonly<Record<string, readonly [number, string]>> = {
    "/api/v1/interface/virtual": [200, "{}"],
    "/api/v1/website/7/test": [503, '{"error": "pass:word is wrong\\u001b"}'],
    "/api/v1/website/8/test": [500, "x".repeat(70_000)],
    "/api/v1/website/9/test": [502, ""],
  };
  const server = createServer(({ url = "" }, response) => {
    const [status, body] = answers[url] ?? [404, ""];
    // A body without an end is shown as far as it came.
    response.writeHead(status, { "content-length": body.length + (status === 502 ? 9 : 0) });
    if (status === 502) response.write("it br", () => response.destroy());
    else response.end(body);
  });
  const folder = await createFolder({
    "config.yaml": `
http_client: { basic_auth: { username: monitor, password: "pass:word" } }
appliances: [{ name: fw-a, base_url: "http://127.0.0.1:${await listen(server)}", allow_http: true, websites: [7, 8, 9] }]
`,
  });
  const poll = ["poll", "fw-a", `--config.file=${folder}/config.yaml`, "--raw"];
  const { code, out } = await run(...poll);
  expect(code).toBe(1);
  expect(out).toMatch(/^fw-a +website_test\/9 +http_status +\S+ s +answered with status 502$/m);
  const [, bodies = ""] = out.split("\n\nvrrp:\n");
  const shortened = bodies.replace(/x{9,}/, ({ length }) => (length <= 64 * 1024 ? "the beginning" : "more"));
  expect(shortened).toBe(
    `{}\n\nwebsite_test/7 (status 503):\n{"error": "<secret> is wrong\\u001b"}\n\nwebsite_test/8 (status 500):\nthe beginning\n\n` +
      "website_test/9 (status 502):\nit br\n",
  );
  expect(JSON.parse((await run(...poll, "--output=json")).out)).toMatchObject({
    operations: [{}, { body: '{"error": "<secret> is wrong\\u001b"}' }, {}, { body: "it br" }],
  });
});

test("poll --raw escapes control characters on a terminal only", async () => {
  const body = '{\r\n\t"car\u001B[31mp0\u009B\u202E\u{E0001}": 1\n}';
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
  expect(await bodyOf(true, "table")).toContain(
    '\nvrrp:\n{\\u000d\n\t"car\\u001b[31mp0\\u009b\\u202e\\udb40\\udc01": 1\n}\n',
  );
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
