import { expect, test } from "vitest";
import { errorsOf } from "./folder.ts";

type Case = readonly [settings: string, error: string];

/** The settings, each of an appliance in one file, with the error that each has. */
async function withErrors(cases: readonly Case[]): Promise<readonly Case[]> {
  const lines = cases.map(([each], nth) => `  - { name: a${nth}, base_url: "https://h${nth}", ${each} }\n`);
  const errors = await errorsOf(`appliances:\n${lines.join("")}`);
  const found = errors.map((error) => /^config\.yaml:\d+:\d+: appliances\[(\d+)\]\.(.*)$/.exec(error) ?? []);
  return cases.map(([settings], nth) => {
    const own = found.filter(([, index]) => index === String(nth));
    return [settings, own.map(([, , error]) => error).join("\n")];
  });
}

test("http_client", async () => {
  const userName = "expected a non-empty user name without colons and control characters";
  const proxyUrl = "http_client.proxy_url: expected a URL of the form http://[user:password@]host:port";
  const cases: readonly Case[] = [
    [
      "http_client: { basic_auth: { username: u } }",
      "http_client.basic_auth: expected either password or password_file",
    ],
    [
      "http_client: { basic_auth: { username: u, password: p, password_file: p } }",
      "http_client.basic_auth: expected either password or password_file",
    ],
    [
      "http_client: { basic_auth: { password: hunter2 } }",
      "http_client.basic_auth.username: required key is missing",
    ],
    [
      'http_client: { basic_auth: { username: "u:hunter2", password: p } }',
      `http_client.basic_auth.username: ${userName}`,
    ],
    [
      'http_client: { basic_auth: { username: u, password: "" } }',
      "http_client.basic_auth.password: expected a non-empty password without control characters",
    ],
    [
      "http_client: { basic_auth: { username: u, password: 12345 } }",
      "http_client.basic_auth.password: Invalid input: expected string, received number",
    ],
    [
      'http_client: { basic_auth: { username: u, password_file: "" } }',
      "http_client.basic_auth.password_file: expected the path of a file",
    ],
    ["http_client: { proxy_url: https://h }", proxyUrl],
    ["http_client: { proxy_url: http://u:hunter2@h/path }", proxyUrl],
    [
      "http_client: { tls_config: { min_version: TLSv1.2 } }",
      'http_client.tls_config.min_version: Invalid option: expected one of "TLS10"|"TLS11"|"TLS12"|"TLS13"',
    ],
    [
      'http_client: { tls_config: { server_name: "a b" } }',
      "http_client.tls_config.server_name: expected a host name",
    ],
    [
      "http_client: { tls_config: { cert_file: p } }",
      "http_client.tls_config: expected both cert_file and key_file, or none of them",
    ],
    [
      "http_client: { tls_config: { key_file: p } }",
      "http_client.tls_config: expected both cert_file and key_file, or none of them",
    ],
    [
      "http_client: { tls_config: { certificate_sha256: [], known_certificates_file: k } }",
      "http_client.tls_config: expected either certificate_sha256 or known_certificates_file, got both",
    ],
    [
      "http_client: { tls_config: { certificate_sha256: [ab:cd] } }",
      "http_client.tls_config.certificate_sha256[0]: expected a SHA-256 fingerprint of 64 hexadecimal digits",
    ],
  ];
  expect(await withErrors(cases)).toEqual(cases);
});

const IN_BRACKETS =
  "expected an https:// URL with the IPv6 address in brackets, such as https://[2001:db8::1]:4849";

test.each([
  ["10.0.0.1:4849/mgmt", 'expected an https:// URL, got "10.0.0.1:4849/mgmt"'],
  ["ftp://h", 'expected an https:// URL, got "ftp://h"'],
  [
    "https://monitor:hunter2@h",
    "expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  [
    "monitor:hunter2@h",
    "expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  [
    "https://monitor:hunter2",
    "expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  [
    "https://h?token=hunter2",
    "expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  [
    "https://h:99999",
    "expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  [
    "https://[::1",
    "expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  [
    "https://h /x",
    "expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  ["https://2001:db8::1:4849", IN_BRACKETS],
  ["https://::1/mgmt", IN_BRACKETS],
  ["http://fe80::1", IN_BRACKETS],
  ["http://h", "expected an https:// URL, got http://; set allow_http: true to allow that"],
])("base_url %s: %s", async (baseUrl, error) => {
  const text = `appliances:\n  - name: a\n    base_url: "${baseUrl}"\n`;
  expect(await errorsOf(text)).toEqual([`config.yaml:3:5: appliances[0].base_url: ${error}`]);
});

test("labels", async () => {
  const cases: readonly Case[] = [
    ["labels: { ha_cluster: x }", "labels[...]: this label name is reserved"],
    ["labels: { difference: x }", "labels[...]: this label name is reserved"],
    ["labels: { job: x }", "labels[...]: this label name is reserved"],
    ["labels: { __x: y }", "labels[...]: this label name is reserved"],
    ["labels: { x-y: z }", "labels[...]: expected a label name of letters, digits and _, first no digit"],
    ["labels: { x: 3 }", "labels[...]: Invalid input: expected string, received number"],
    ["labels: { x: ~ }", "labels[...]: Invalid input: expected string, received null"],
    ['labels: { x: "\\udc00" }', "labels[...]: expected text without U+FFFD"],
    ['labels: { x: "\\ud83d\\ude00" }', ""],
  ];
  expect(await withErrors(cases)).toEqual(cases);
});

test("websites", async () => {
  const id = "expected a website's id, or a map with an id";
  const status = "expected a status code such as 401, or a range such as 200-399";
  const cases: readonly Case[] = [
    ["websites: [-1]", `websites[0]: ${id}`],
    ["websites: [shop]", `websites[0]: ${id}`],
    ["websites: [{ name: x }]", "websites[0].id: required key is missing"],
    [
      "websites: [{ id: 1, protocol: ftp }]",
      'websites[0].protocol: Invalid option: expected one of "http"|"https"|"both"',
    ],
    [
      "websites: [{ id: 1, expect_status: [] }]",
      "websites[0].expect_status: Too small: expected array to have >=1 items",
    ],
    ["websites: [{ id: 1, expect_status: [399-200] }]", `websites[0].expect_status[0]: ${status}`],
    ["websites: [{ id: 1, expect_status: [99] }]", `websites[0].expect_status[0]: ${status}`],
  ];
  expect(await withErrors(cases)).toEqual(cases);
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
  const interval = "polling.vrrp.interval: expected a duration of 1s to 1d such as 15s or 1m30s";
  const cases: readonly Case[] = [
    [
      "polling: { vrrp: { interval: 5 } }",
      "polling.vrrp.interval: expected a duration of 1s to 1d such as 15s or 1m30s",
    ],
    ["polling: { vrrp: { interval: 5sec } }", interval],
    ["polling: { vrrp: { interval: 900ms } }", interval],
    [
      'polling: { vrrp: { timeout: "0" } }',
      "polling.vrrp.timeout: expected a duration of 1ms to 1d such as 15s or 1m30s",
    ],
    [
      'polling: { vrrp: { schedule: "* * * * *" } }',
      'polling.vrrp.schedule: expected six fields, seconds first, such as "*/10 * * * * *", got 5',
    ],
    [
      'polling: { vrrp: { interval: 5s, schedule: "* * * * * *" } }',
      "polling.vrrp.schedule: expected either interval or schedule, got both",
    ],
    ["polling: { vrrp: 5s }", "polling.vrrp: Invalid input: expected object, received string"],
    [
      "polling: { max_concurrent_website_tests_per_appliance: 1001 }",
      "polling.max_concurrent_website_tests_per_appliance: Too big: expected number to be <=1000",
    ],
  ];
  expect(await withErrors(cases)).toEqual(cases);
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
    ["name: 12", "Invalid input: expected string, received number"],
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
