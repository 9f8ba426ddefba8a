import { X509Certificate } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { AUTHORITY, CARP0, listen, startAppliance, websiteOf } from "../appliance/support.ts";
import { createFolder } from "../config/folder.ts";
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

test("check --live polls each enabled appliance and shows the certificate to pin", async () => {
  const { file } = await setUp();
  const { code, out } = await run("check", `--config.file=${file}`, "--live");
  expect(code).toBe(1);
  const [, sha256 = "none"] = /([0-9a-f]{64})/.exec(out) ?? [];
  expect(
    out.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, "<end of validity.>").replace(sha256, "<sha256>"),
  ).toBe(
    `${file}: valid, appliances: 2 enabled, 1 disabled

APPLIANCE  CLUSTER  VRRP LIST  DETAIL
fw-a       fw-a     ok         1 interface
fw-b       fw-b     connect    connect ECONNREFUSED 127.0.0.1:1

APPLIANCE  CERTIFICATE ENDS      SHA256, FOR CERTIFICATE_SHA256                                    ISSUER
fw-a       <end of validity.>  <sha256>  CN=${AUTHORITY_NAME}
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
