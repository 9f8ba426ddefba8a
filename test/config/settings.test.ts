import { describe, expect, test } from "vitest";
import { errorsOf } from "./folder.ts";

/** A file with one appliance, whose last setting is in line 4 from column 5 on. */
const appliance = (setting: string) => `appliances:\n  - name: a\n    base_url: https://h\n    ${setting}\n`;

describe("http_client", () => {
  const userName = "expected a non-empty user name without colons and control characters";
  const proxyUrl = "expected a URL of the form http://[user:password@]host:port";

  test.each([
    [
      "basic_auth: { username: u }",
      "1:16: http_client.basic_auth: expected either password or password_file, got neither",
    ],
    [
      "basic_auth: { username: u, password: p, password_file: p }",
      "1:56: http_client.basic_auth.password_file: expected either password or password_file, got both",
    ],
    ["basic_auth: { password: hunter2 }", "1:28: http_client.basic_auth.username: required key is missing"],
    ['basic_auth: { username: "", password: p }', `1:30: http_client.basic_auth.username: ${userName}`],
    [
      'basic_auth: { username: "u:hunter2", password: p }',
      `1:30: http_client.basic_auth.username: ${userName}`,
    ],
    [
      'basic_auth: { username: u, password: "" }',
      "1:43: http_client.basic_auth.password: expected a non-empty password without control characters",
    ],
    [
      "basic_auth: { username: u, password: 12345 }",
      "1:43: http_client.basic_auth.password: expected a string, got a number; put it in quotes",
    ],
    [
      'basic_auth: { username: u, password_file: "" }',
      "1:43: http_client.basic_auth.password_file: expected the path of a file",
    ],
    ["proxy_url: https://h", `1:16: http_client.proxy_url: ${proxyUrl}`],
    ["proxy_url: http://u:hunter2@h/path", `1:16: http_client.proxy_url: ${proxyUrl}`],
    ["proxy_url: http://u:%hunter2@h", `1:16: http_client.proxy_url: ${proxyUrl}`],
    ["proxy_url: [hunter2]", "1:16: http_client.proxy_url: expected a string, got a list"],
    [
      "tls_config: { min_version: TLSv1.2 }",
      '1:30: http_client.tls_config.min_version: expected TLS10, TLS11, TLS12 or TLS13, got "TLSv1.2"',
    ],
    ['tls_config: { server_name: "a b" }', "1:30: http_client.tls_config.server_name: expected a host name"],
    ["tls_config: { cert_file: p }", "1:30: http_client.tls_config.cert_file: needs key_file"],
    ["tls_config: { key_file: p }", "1:30: http_client.tls_config.key_file: needs cert_file"],
    [
      "tls_config: { insecure_skip_verify: 1 }",
      "1:30: http_client.tls_config.insecure_skip_verify: expected true or false, got a number",
    ],
    [
      "tls_config: { certificate_sha256: [ab:cd] }",
      "1:51: http_client.tls_config.certificate_sha256[0]: expected a SHA-256 fingerprint of 64 hexadecimal digits",
    ],
    [
      "tls_config: { certificate_sha256: abcd }",
      "1:30: http_client.tls_config.certificate_sha256: expected a list, got a string",
    ],
  ])("%s: %s", async (block, error) => {
    const errors = await errorsOf({
      "config.yaml": `http_client: { ${block} }\nclusters: []\n`,
      p: "hunter2",
    });
    expect(errors).toEqual([`config.yaml:${error}`]);
  });
});

describe("base_url", () => {
  const plainHttp = "expected an https:// URL, got http://; set allow_http: true to allow that";

  test.each([
    ["10.0.0.1", 'expected an https:// URL, got "10.0.0.1"'],
    ['"10.0.0.1:4849/mgmt"', 'expected an https:// URL, got "10.0.0.1:4849/mgmt"'],
    ["ftp://h", 'expected an https:// URL, got "ftp://h"'],
    ["7", "expected an https:// URL, got 7"],
    ["https://", 'expected an https:// URL, got "https://"'],
    ["https://monitor:hunter2@h", "expected a URL without credentials; they belong in basic_auth"],
    ["monitor:hunter2@h", "expected an https:// URL"],
    ["https://monitor:hunter2", "expected a URL with host, port and path"],
    ["https://h?token=hunter2", "expected a URL without query and fragment"],
    ["https://h/#hunter2", "expected a URL without query and fragment"],
    ["https://h:99999", 'expected a URL with host, port and path, got "https://h:99999"'],
    ["https://h:0", 'expected a URL with host, port and path, got "https://h:0"'],
    ['"https://h /x"', "expected a URL with host, port and path"],
    ['"https://h\\\\x"', "expected a URL with host, port and path"],
    ["http://h", plainHttp],
    ["http://h\n    allow_http: false", plainHttp],
  ])("%s: %s", async (baseUrl, error) => {
    const text = `appliances:\n  - name: a\n    base_url: ${baseUrl}\n`;
    expect(await errorsOf(text)).toEqual([`config.yaml:3:5: appliances[0].base_url: ${error}`]);
  });

  test("http is allowed with allow_http: true", async () => {
    const text = 'appliances: [{ name: a, base_url: "http://h", allow_http: true }]\n';
    expect(await errorsOf(text)).toEqual([]);
  });
});

describe("labels", () => {
  const ours =
    "appliance ha_cluster interface vhid vip device netmask peer configured_role state website_id website protocol operation reason anomaly";
  const reserved = "endpoint cluster instance job pod service namespace container node le quantile";

  test.each<readonly [string, string]>([
    ...ours
      .split(" ")
      .map((name) => [`${name}: x`, `.${name}: the exporter sets this label itself`] as const),
    ...reserved.split(" ").map((name) => [`${name}: x`, `.${name}: this label name is reserved`] as const),
    ["__x: y", ".__x: label names that start with __ are reserved for Prometheus"],
    ["9x: y", ".9x: expected a label name of letters, digits and _ that does not start with a digit"],
    ["x-y: z", ".x-y: expected a label name of letters, digits and _ that does not start with a digit"],
    ["x: 3", ".x: expected a string, got 3; put it in quotes"],
    ["x: true", ".x: expected a string, got true; put it in quotes"],
    ["x: ~", ".x: expected a string, got nothing"],
    ['x: "\\udc00"', ".x: expected a string of valid Unicode"],
  ])("%s: %s", async (label, error) => {
    expect(await errorsOf(appliance(`labels: { ${label} }`))).toEqual([
      `config.yaml:4:15: appliances[0].labels${error}`,
    ]);
  });
});

describe("websites", () => {
  const id = "expected a website's id, or a map with an id, got";
  const status = "expected a status code such as 401, or a range such as 200-399, got";

  test.each([
    ["-1", `4:16: appliances[0].websites[0]: ${id} -1`],
    ["1.5", `4:16: appliances[0].websites[0]: ${id} 1.5`],
    ["shop", `4:16: appliances[0].websites[0]: ${id} "shop"`],
    [
      '{ id: "9007199254740992" }',
      '4:18: appliances[0].websites[0].id: expected a website\'s id: a whole number, 0 or greater, got "9007199254740992"',
    ],
    ["{ name: x }", "4:16: appliances[0].websites[0].id: required key is missing"],
    [
      "{ id: 1, protocol: ftp }",
      '4:25: appliances[0].websites[0].protocol: expected http, https or both, got "ftp"',
    ],
    [
      "{ id: 1, expect_status: 200 }",
      "4:25: appliances[0].websites[0].expect_status: expected a list, got a number",
    ],
    [
      "{ id: 1, expect_status: [] }",
      "4:25: appliances[0].websites[0].expect_status: expected at least 1 item(s)",
    ],
    [
      "{ id: 1, expect_status: [399-200] }",
      `4:41: appliances[0].websites[0].expect_status[0]: ${status} "399-200"`,
    ],
    ["{ id: 1, expect_status: [99] }", `4:41: appliances[0].websites[0].expect_status[0]: ${status} 99`],
    ["1, 2, 1", "4:22: appliances[0].websites[2]: duplicate website 1"],
    ['1, { id: "1" }', "4:19: appliances[0].websites[1]: duplicate website 1"],
  ])("%s: %s", async (list, error) => {
    expect(await errorsOf(appliance(`websites: [${list}]`))).toEqual([`config.yaml:${error}`]);
  });

  test("an appliance must not repeat a website of its cluster", async () => {
    const text = [
      "clusters:",
      "  - name: c",
      "    websites: [1, 2]",
      "    appliances:",
      '      - { name: a, base_url: "https://h", websites: [3, 2] }',
      '      - { name: b, base_url: "https://i", websites: [3] }',
    ].join("\n");
    expect(await errorsOf(text)).toEqual([
      "config.yaml:5:57: clusters[0].appliances[0].websites[1]: duplicate website 2",
    ]);
  });
});
