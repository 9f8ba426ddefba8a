import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { loadApplianceConfig } from "../../src/appliance/config.ts";
import { formatErrors } from "../../src/exporter/config/errors.ts";
import { createFolder, type Files } from "../exporter/config/folder.ts";
import { AUTHORITY } from "./support.ts";

const FULL = `listen: "[::1]:4849"
tls: { cert_file: appliance.pem, key_file: appliance.key }
users:
  - { username: monitor, password_file: monitor.password }
  - { username: admin, password: "inline: yes" }
vrrp:
  source: static
  interfaces:
    carp0:
      if: eth1
      vip: 192.0.2.100
      netmask: 255.255.255.0
      vhid: 2
      priority: 204
      state_current: MASTER
      type: 1
      carppeer: 224.0.0.18
      alias: [192.0.2.101]
website_test: { timeout: 1m30s, tls_config: { ca_file: ca.pem, insecure_skip_verify: true } }
websites:
  - { id: 1, protocol: both, host: www.example.org, http_port: 81, https_port: 444, path: /shop?x=1,
      name: shop, enabled: false, mode: detect, bind: [192.0.2.10],
      servers: [{ host: web1, port: 8080 }, { host: "::1", port: 443, protocol: https, role: backup }] }
  - { id: 2, protocol: https, host: "::1" }
website_list: false
`;

const MINIMAL = `listen: :4849
tls: { cert_file: appliance.pem, key_file: appliance.key }
users: [{ username: monitor, password: secret }]
vrrp: { source: static, interfaces: {} }
`;

let files: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const [leaf, other] = await Promise.all([AUTHORITY.issue(), AUTHORITY.issue()]);
  files = {
    "appliance.pem": leaf.cert,
    "appliance.key": leaf.key,
    "other.key": other.key,
    "ca.pem": AUTHORITY.cert,
    "monitor.password": "from file\r\n",
    empty: " \r\n",
  };
});

/** The configuration in a folder with the files above, or its errors as lines. */
async function load(yaml: string, more: Files = {}) {
  const folder = await createFolder({ ...files, ...more, "appliance.yaml": yaml });
  const loaded = await loadApplianceConfig(join(folder, "appliance.yaml"));
  if (loaded.ok) return { folder, config: loaded.config, errors: [] };
  const errors = formatErrors(loaded.errors).map((line) => line.replaceAll(`${folder}/`, ""));
  return { folder, errors: errors.map((line) => line.replaceAll(folder, ".")) };
}

test("reads every key", async () => {
  const { config, errors } = await load(FULL);
  expect(errors).toEqual([]);
  expect(config).toMatchObject({
    listen: { host: "::1", port: 4849 },
    tls: { cert: files["appliance.pem"] },
    hasWebsiteList: false,
    websiteTest: { timeoutMs: 90_000, ca: files["ca.pem"], insecureSkipVerify: true },
  });
  expect(config?.tls.key.reveal()).toBe(files["appliance.key"]);
  expect(config?.users.map(({ username, password }) => [username, password.reveal()])).toEqual([
    ["monitor", "from file"],
    ["admin", "inline: yes"],
  ]);
  expect(config?.vrrp).toEqual({
    source: "static",
    interfaces: [
      {
        name: "carp0",
        state: "MASTER",
        vhid: 2,
        vip: "192.0.2.100",
        priority: 204,
        alias: ["192.0.2.101"],
        device: "eth1",
        netmask: "255.255.255.0",
        peer: "224.0.0.18",
        type: "1",
      },
    ],
  });
  expect(config?.websites).toEqual([
    {
      id: 1,
      protocol: "both",
      host: "www.example.org",
      httpPort: 81,
      httpsPort: 444,
      path: "/shop?x=1",
      name: "shop",
      isEnabled: false,
      mode: "detect",
      bind: ["192.0.2.10"],
      servers: [
        { protocol: "http", host: "web1", port: 8080, role: "active" },
        { protocol: "https", host: "::1", port: 443, role: "backup" },
      ],
    },
    {
      id: 2,
      protocol: "https",
      host: "::1",
      httpPort: 80,
      httpsPort: 443,
      path: "/",
      name: "::1",
      isEnabled: true,
      mode: "protect",
      bind: ["*"],
      servers: [],
    },
  ]);
});

test("has a default for every optional key", async () => {
  const { config, errors } = await load(MINIMAL);
  expect(errors).toEqual([]);
  expect(config).toMatchObject({
    listen: { host: undefined, port: 4849 },
    vrrp: { source: "static", interfaces: [] },
    websites: [],
    hasWebsiteList: true,
    websiteTest: { timeoutMs: 10_000, ca: undefined, insecureSkipVerify: false },
  });
});

test("reads every key for keepalived, with paths relative to the configuration", async () => {
  const vrrp = `vrrp:
  source: keepalived
  pid_file: run/vrrp.pid
  dump_dir: ../dumps
  json_signal: 37
  timeout: 2s
  instances:
    VI_1: { carppeer: 192.0.2.12, type: 1 }
    "VI 2": { carppeer: "2001:db8::12" }
    VI_3: {}
`;
  const { config, errors, folder } = await load(MINIMAL.replace(/vrrp: .*\n/, vrrp));
  expect(errors).toEqual([]);
  expect(config?.vrrp).toEqual({
    source: "keepalived",
    pidFile: join(folder, "run/vrrp.pid"),
    dumpFile: join(folder, "../dumps/keepalived.json"),
    signal: 37,
    timeoutMs: 2_000,
    instances: new Map([
      ["VI_1", { carppeer: "192.0.2.12", type: "1" }],
      ["VI 2", { carppeer: "2001:db8::12", type: "2" }],
      ["VI_3", { carppeer: "224.0.0.18", type: "2" }],
    ]),
  });
});

test("reads a recording, and reports errors at their place in it", async () => {
  const yaml = `${MINIMAL}replay_file: recorded.yaml\n`;
  const answer = "{ operation: website_details, website_id: 7, result: ok, status: 200, body: text }";
  const { config } = await load(yaml, {
    "recorded.yaml": `{ exporter: 1.2.3, node: v24, answers: [${answer}] }`,
  });
  expect(config?.replay).toEqual(
    new Map([["/api/v1/website/7", { status: 200, contentType: "other", body: "text" }]]),
  );
  const invalid = "exporter: 1.2.3\nnode: v24\nanswers: [{ operation: vrp, result: ok, status: 99 }]\n";
  expect((await load(yaml, { "recorded.yaml": invalid })).errors).toEqual([
    "recorded.yaml:3:13: answers[0].operation: expected vrrp, website_list, website_details or website_test",
    "recorded.yaml:3:41: answers[0].status: expected a whole number from 200 to 999",
  ]);
  expect((await load(yaml)).errors).toEqual(["recorded.yaml: no such file"]);
});

test("reports the schema's errors at once, with their positions, and shows no secret", async () => {
  const { errors } = await load(`listen: "::1:4849"
tls: { cert_file: nowhere.pem, keyfile: empty }
users:
  - { username: monitor, password: hunter2, password_file: monitor.password }
  - { username: "admin:hunter2", password: "hunter2" }
  - { username: number, password: 7777 }
vrrp:
  source: static
  interfaces:
    carp0: { if: "", vip: 192.0.2.300, netmask: 255.0.0.0, vhid: 256, priority: -1, state_current: FAULT, type: x, carppeer: 192.0.2.2 }
    carp1: []
website_test: { timeout: 0s }
websites:
  - { id: one, protocol: ftp, host: "http://www.example.org", http_port: 0, path: shop }
colour: blue
`);
  expect(errors).toEqual([
    "appliance.yaml:1:1: listen: expected an address like 127.0.0.1:4849 or [::1]:4849",
    "appliance.yaml:2:1: tls.key_file: required key is missing",
    'appliance.yaml:2:32: tls: unknown key "keyfile"; did you mean "key_file"?',
    "appliance.yaml:4:5: users[0]: expected either password or password_file",
    "appliance.yaml:5:7: users[1].username: expected a non-empty user name without colons and control characters",
    "appliance.yaml:6:25: users[2].password: expected text, got a number: put it in quotes",
    "appliance.yaml:10:14: vrrp.interfaces[...].if: expected at least 1 character",
    "appliance.yaml:10:22: vrrp.interfaces[...].vip: expected an IP address",
    "appliance.yaml:10:60: vrrp.interfaces[...].vhid: expected a whole number from 0 to 255",
    "appliance.yaml:10:71: vrrp.interfaces[...].priority: expected a whole number from 0 to 255",
    "appliance.yaml:10:85: vrrp.interfaces[...].state_current: expected MASTER, BACKUP, INIT or DISABLED",
    "appliance.yaml:10:107: vrrp.interfaces[...].type: expected a whole number, 0 or greater, got text",
    "appliance.yaml:11:5: vrrp.interfaces[...]: expected a map: lines of a key, a colon, a space and a value",
    "appliance.yaml:12:17: website_test.timeout: expected a duration of 1ms to 1h, such as 1m30s",
    "appliance.yaml:14:7: websites[0].id: expected a whole number from 1 to 9999999999, got text",
    "appliance.yaml:14:16: websites[0].protocol: expected http, https or both",
    "appliance.yaml:14:31: websites[0].host: expected a host name or an IP address",
    "appliance.yaml:14:63: websites[0].http_port: expected a whole number from 1 to 65535",
    "appliance.yaml:14:77: websites[0].path: expected a path that starts with / and holds no blanks",
    "appliance.yaml:15:1: unknown key; expected listen, tls, users, kind, vrrp, website_test, websites, website_list or replay_file",
  ]);
});

test.each([
  ["users: []", "3:1: users: expected at least 1 entry"],
  [
    "tls: { cert_file: appliance.pem, key_file: other.key }",
    "2:34: tls.key_file: TLS rejects this key with this certificate",
  ],
  [
    "tls: { cert_file: appliance.key, key_file: appliance.pem }",
    '2:8: tls.cert_file: cannot use "appliance.key": expected valid certificates in PEM',
    '2:34: tls.key_file: cannot use "appliance.pem": expected a private key in PEM without a passphrase',
  ],
  [
    "users: [{ username: a, password_file: empty }]",
    '3:24: users[0].password_file: cannot use "empty": it is empty',
  ],
  [
    "website_test: { tls_config: { ca_file: monitor.password } }",
    '5:31: website_test.tls_config.ca_file: cannot use "monitor.password": expected valid certificates in PEM',
  ],
  ["vrrp: { source: keepalive }", "4:9: vrrp.source: expected static or keepalived"],
  ["vrrp: { source: static }", "4:1: vrrp.interfaces: required key is missing"],
  [
    "vrrp: { source: keepalived, interfaces: {} }",
    '4:29: vrrp: unknown key "interfaces" here; expected source, pid_file, dump_dir, json_signal, timeout or instances',
  ],
  [
    "vrrp: { source: keepalived, json_signal: 15 }",
    "4:29: vrrp.json_signal: expected a whole number from 34 to 64",
  ],
])("refuses %j", async (line, ...expected) => {
  const key = /^\w+:/.exec(line)?.[0] ?? "";
  const others = MINIMAL.split("\n").map((other) => (other.startsWith(key) ? line : other));
  const yaml = others.includes(line) ? others.join("\n") : `${MINIMAL}${line}\n`;
  expect(await load(yaml)).toMatchObject({ errors: expected.map((error) => `appliance.yaml:${error}`) });
});
