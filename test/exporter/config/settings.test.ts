import { expect, test } from "vitest";
import { errorsOf } from "./folder.ts";

type Case = readonly [settings: string, error: string];

/** The settings, each of an appliance in one file, with the error that each has at or below `key`. */
async function withErrors(key: string, cases: readonly Case[]): Promise<readonly Case[]> {
  const lines = cases.map(
    ([each], nth) => `  - { name: a${nth}, base_url: "https://h${nth}", ${key}: ${each} }\n`,
  );
  const errors = await errorsOf(`appliances:\n${lines.join("")}`);
  const found = errors.map((error) => /^config\.yaml:\d+:\d+: appliances\[(\d+)\]\.(.*)$/.exec(error) ?? []);
  return cases.map(([settings], nth) => {
    const own = found.filter(([, index]) => index === String(nth));
    return [settings, own.map(([, , error = ""]) => error.replace(key, "")).join("\n")];
  });
}

test("http_client", async () => {
  const userName = "expected a non-empty user name without colons and control characters";
  const proxyUrl =
    ".proxy_url: expected a URL of the form http://[user:password@]host:port, with an IPv6 address in brackets";
  const cases: readonly Case[] = [
    ["{ basic_auth: { username: u } }", ".basic_auth: expected either password or password_file"],
    [
      "{ basic_auth: { username: u, password: p, password_file: p } }",
      ".basic_auth: expected either password or password_file",
    ],
    ["{ basic_auth: { password: hunter2 } }", ".basic_auth.username: required key is missing"],
    ['{ basic_auth: { username: "u:hunter2", password: p } }', `.basic_auth.username: ${userName}`],
    [
      '{ basic_auth: { username: u, password: "" } }',
      ".basic_auth.password: expected a non-empty password without control characters",
    ],
    [
      "{ basic_auth: { username: u, password: 12345 } }",
      ".basic_auth.password: expected text, got a number: put it in quotes",
    ],
    [
      '{ basic_auth: { username: u, password_file: "" } }',
      ".basic_auth.password_file: expected the path of a file",
    ],
    ["{ proxy_url: https://h }", proxyUrl],
    ["{ proxy_url: http://u:hunter2@h/path }", proxyUrl],
    [
      "{ tls_config: { min_version: TLSv1.2 } }",
      ".tls_config.min_version: expected TLS10, TLS11, TLS12 or TLS13: write TLS12",
    ],
    [
      "{ tls_config: { min_version: 1.2 } }",
      ".tls_config.min_version: expected TLS10, TLS11, TLS12 or TLS13: write TLS12",
    ],
    ['{ tls_config: { server_name: "a b" } }', ".tls_config.server_name: expected a host name"],
    [
      "{ tls_config: { cert_file: p } }",
      ".tls_config: expected both cert_file and key_file, or none of them",
    ],
    ["{ tls_config: { key_file: p } }", ".tls_config: expected both cert_file and key_file, or none of them"],
    [
      "{ tls_config: { certificate_sha256: [], known_certificates_file: k } }",
      ".tls_config: expected either certificate_sha256 or known_certificates_file, got both",
    ],
    [
      "{ tls_config: { certificate_sha256: [ab:cd] } }",
      ".tls_config.certificate_sha256[0]: expected a SHA-256 fingerprint of 64 hexadecimal digits",
    ],
  ];
  expect(await withErrors("http_client", cases)).toEqual(cases);
});

const NO_URL = "expected an https:// URL with a valid host and port, without credentials, query and fragment";
const IN_BRACKETS =
  "expected an https:// URL with the IPv6 address in brackets, such as https://[2001:db8::1]:4849";

test.each([
  [
    "10.0.0.1:4849/mgmt",
    'expected an https:// URL, got "10.0.0.1:4849/mgmt": write https://10.0.0.1:4849/mgmt',
  ],
  ["ftp://h", 'expected an https:// URL, got "ftp://h"'],
  ["https://monitor:hunter2@h", NO_URL],
  ["monitor:hunter2@h", NO_URL],
  ["https://monitor:hunter2", NO_URL],
  ["https://h?token=hunter2", NO_URL],
  ["https://h:99999", NO_URL],
  ["https://[::1", NO_URL],
  ["https://h /x", NO_URL],
  ["https://2001:db8::1:4849", IN_BRACKETS],
  ["https://::1/mgmt", IN_BRACKETS],
  ["http://fe80::1", IN_BRACKETS],
  [
    "http://h",
    "expected an https:// URL: write https:// in place of http://; only if the appliance has no TLS, set allow_http: true, which sends the password unencrypted",
  ],
])("base_url %s: %s", async (baseUrl, error) => {
  const text = `appliances:\n  - name: a\n    base_url: "${baseUrl}"\n`;
  expect(await errorsOf(text)).toEqual([`config.yaml:3:5: appliances[0].base_url: ${error}`]);
});

test("labels", async () => {
  const cases: readonly Case[] = [
    ["{ ha_cluster: x }", "[...]: this label name is reserved"],
    ["{ successor: x }", "[...]: this label name is reserved"],
    ["{ job: x }", "[...]: this label name is reserved"],
    ["{ __x: y }", "[...]: this label name is reserved"],
    ["{ x-y: z }", "[...]: expected a label name of letters, digits and _, first no digit"],
    ["{ x: 3 }", "[...]: expected text, got a number: put it in quotes"],
    ["{ x: ~ }", "[...]: expected text, got nothing"],
    ['{ x: "\\udc00" }', "[...]: expected text without U+FFFD"],
    ['{ x: "\\ud83d\\ude00" }', ""],
  ];
  expect(await withErrors("labels", cases)).toEqual(cases);
});

test("websites", async () => {
  const id = "expected a website's id, or a map with an id";
  const status = "expected a status code such as 401, or a range such as 200-399";
  const cases: readonly Case[] = [
    ["[-1]", `[0]: ${id}`],
    ["[shop]", `[0]: ${id}`],
    ["[{ name: x }]", "[0].id: required key is missing"],
    ["1", ": expected a list: write [1]"],
    ["shop", `: expected a list; each entry: ${id}`],
    ["{ 1: shop }", ': expected a list, got a map: start each entry with "- ", or write [] for none'],
    ["[{ id: 1, protocol: HTTP }]", "[0].protocol: expected http, https or both: write http"],
    ["[{ id: 1, expect_status: 401 }]", "[0].expect_status: expected a list: write [401]"],
    [
      "[{ id: 1, expect_status: 2xx }]",
      `[0].expect_status: expected a list; each entry: ${status}: write 200-299`,
    ],
    ["[{ id: 1, expect_status: [5XX] }]", `[0].expect_status[0]: ${status}: write 500-599`],
    ["[{ id: 1, protocol: ftp }]", "[0].protocol: expected http, https or both"],
    ["[{ id: 1, expect_status: [] }]", "[0].expect_status: expected at least 1 entry"],
    ["[{ id: 1, expect_status: [399-200] }]", `[0].expect_status[0]: ${status}`],
    ["[{ id: 1, expect_status: [99] }]", `[0].expect_status[0]: ${status}`],
  ];
  expect(await withErrors("websites", cases)).toEqual(cases);
});

test("an appliance must not repeat a website, of its own or of its cluster", async () => {
  const text = [
    "clusters:",
    "  - name: c",
    "    websites: [1, 2]",
    "    appliances:",
    '      - { name: a, base_url: "https://h", websites: [3, 2] }',
    '      - { name: b, base_url: "https://i", websites: [3, { id: "3" }] }',
  ].join("\n");
  expect(await errorsOf(text)).toEqual([
    "config.yaml:5:57: clusters[0].appliances[0].websites[1]: duplicate website 2",
    "config.yaml:6:57: clusters[0].appliances[1].websites[1]: duplicate website 3",
  ]);
});

test("polling", async () => {
  const interval = ".vrrp.interval: expected a duration of 1s to 1d, such as 1m30s";
  const cases: readonly Case[] = [
    ["{ vrrp: { interval: 5 } }", ".vrrp.interval: expected a duration of 1s to 1d, such as 1m30s: write 5s"],
    ["{ vrrp: { interval: 5sec } }", interval],
    ["{ vrrp: { interval: 900ms } }", interval],
    ['{ vrrp: { timeout: "0" } }', ".vrrp.timeout: expected a duration of 1ms to 1d, such as 1m30s"],
    [
      '{ vrrp: { schedule: "* * * * *" } }',
      '.vrrp.schedule: expected six fields, seconds first, such as "*/10 * * * * *", got 5',
    ],
    [
      '{ vrrp: { interval: 5s, schedule: "* * * * * *" } }',
      ".vrrp.schedule: expected either interval or schedule, got both",
    ],
    [
      "{ vrrp: 5s }",
      ".vrrp: expected a map: lines of a key, a colon, a space and a value: write { interval: 5s }",
    ],
    [
      "{ max_concurrent_website_tests_per_appliance: 1001 }",
      ".max_concurrent_website_tests_per_appliance: expected a whole number from 1 to 1000",
    ],
  ];
  expect(await withErrors("polling", cases)).toEqual(cases);
});

const block = (settings: string) => (settings === "" ? "{}" : `{ vrrp: { ${settings} } }`);

/** Nested blocks around an appliance; empty ones are omitted. */
const nested = (top: string, cluster: string, appliance: string) =>
  `polling: ${block(top)}
clusters:
  - name: c
    polling: ${block(cluster)}
    appliances: [{ name: a, base_url: "https://h", polling: ${block(appliance)} }]
`;

test.each([
  [
    "against the built-in interval",
    nested("timeout: 6s", "", ""),
    ["1:12: polling.vrrp: expected a timeout of at most the time between two polls, 5s"],
  ],
  [
    "an inner interval",
    nested("interval: 1m, timeout: 20s", "interval: 10s", ""),
    ["4:16: clusters[0].polling.vrrp: expected a timeout of at most the time between two polls, 10s"],
  ],
  [
    "an inner timeout",
    nested("interval: 10s", "", "timeout: 1m"),
    [
      "5:63: clusters[0].appliances[0].polling.vrrp: expected a timeout of at most the time between two polls, 10s",
    ],
  ],
  [
    "a schedule's shortest gap",
    nested('schedule: "0,50 * * * * *"', "timeout: 11s", ""),
    ["4:16: clusters[0].polling.vrrp: expected a timeout of at most the time between two polls, 10s"],
  ],
  ["no longer than the interval", nested("interval: 10s, timeout: 10s", "", ""), []],
  ["that an inner block makes good", nested("interval: 10s, timeout: 20s", "", "interval: 20s"), []],
])("a timeout %s", async (_, text, errors) => {
  expect(await errorsOf(text)).toEqual(errors.map((error) => `config.yaml:${error}`));
});

test("names", async () => {
  const clusters = [
    ['name: ""', "expected a non-empty name without control characters"],
    ["name: 12", "expected text, got a number: put it in quotes"],
    ['name: "a\\nb"', "expected a non-empty name without control characters"],
    ['name: "a\u00A0"', "expected a name without # at the start and without spaces at the start and the end"],
    ['name: "a\\ufffd"', "expected text without U+FFFD"],
    ['name: "a\\ud800"', "expected text without U+FFFD"],
    ['name: "#c"', "expected a name without # at the start and without spaces at the start and the end"],
    ["labels: {}", "required key is missing"],
  ] as const;
  const text = `clusters:\n${clusters.map(([name]) => `  - { ${name}, appliances: [] }\n`).join("")}`;
  const errors = await errorsOf(text);
  expect(errors.map((error) => error.replace(/^config\.yaml:\d+:\d+: /, ""))).toEqual(
    clusters.map(([, error], nth) => `clusters[${nth}].name: ${error}`),
  );
});

const member = (name: string, more = "") => `{ name: ${name}, base_url: "https://${name}"${more} }`;

test.each([
  [
    `appliances:\n  - ${member("a")}\n  - ${member("a")}\n`,
    "config.yaml:3:7: appliances[1].name: duplicate, also at config.yaml:2:7",
  ],
  [
    "clusters:\n  - { name: c, appliances: [] }\n  - { name: c, appliances: [] }\n",
    "config.yaml:3:7: clusters[1].name: duplicate, also at config.yaml:2:7",
  ],
  [
    `appliances: [${member("c")}]\nclusters: [{ name: c, appliances: [] }]\n`,
    "config.yaml:1:16: appliances[0].name: duplicate, also at config.yaml:2:14",
  ],
  [
    `clusters:\n  - { name: a, appliances: [${member("x")}] }\n  - { name: b, appliances: [${member("x")}] }\n`,
    "config.yaml:3:31: clusters[1].appliances[0].name: duplicate, also at config.yaml:2:31",
  ],
])("%j: %s", async (text, error) => {
  expect(await errorsOf(text)).toEqual([error]);
});

test("a cluster may be named like one of its own appliances", async () => {
  expect(await errorsOf(`clusters: [{ name: a, appliances: [${member("a")}, ${member("b")}] }]\n`)).toEqual(
    [],
  );
});

const pair = (first: string, second: string, more = "") => `clusters:
  - name: ams
    appliances:
      - { name: a, base_url: "${first}"${more} }
      - { name: b, base_url: "${second}" }
`;

test.each([
  ["https://h:443", "https://h/"],
  ["https://H.Example/mgmt/", "https://h.example/mgmt"],
  ["https://[2001:db8::1]:4849", "https://[2001:DB8:0:0::0001]:4849"],
])("two members of a cluster must not be at %s and %s", async (first, second) => {
  expect(await errorsOf(pair(first, second))).toEqual([
    "config.yaml:5:20: clusters[0].appliances[1].base_url: duplicate, also at config.yaml:4:20",
  ]);
  expect(await errorsOf(pair(first, second, ", enabled: false"))).toEqual([]);
});

test("two members of a cluster may be at different paths, and others at one address", async () => {
  expect(await errorsOf(pair("https://h/a", "https://h/b"))).toEqual([]);
  const text = `clusters: [{ name: ams, appliances: [{ name: a, base_url: "https://h" }] }]
appliances: [{ name: c, base_url: "https://h" }, { name: d, base_url: "https://h" }]
`;
  expect(await errorsOf(text)).toEqual([]);
});
