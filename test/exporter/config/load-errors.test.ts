import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { errorsOf } from "./folder.ts";

const appliance = (setting: string) => `appliances:\n  - name: a\n    base_url: https://h\n    ${setting}\n`;

const EMPTY =
  'config.yaml:1:1: the file is empty; the smallest valid one is `appliances: [{ name: waf-1, base_url: "https://192.0.2.11:4849" }]`; appliance-exporter init writes one';

describe("the file as a whole", () => {
  test.each([
    ["", [EMPTY]],
    ["# only a comment\n", [EMPTY]],
    [
      "global: {}\nscrape_configs: []\n",
      [
        'config.yaml:1:1: unknown key "global": is this file for Prometheus? expected polling, http_client, kind, website_discovery, website_targets, maintenance, clusters, appliances or config_files',
        "config.yaml:1:1: expected at least one of clusters, appliances and config_files",
        'config.yaml:2:1: unknown key "scrape_configs": is this file for Prometheus? expected polling, http_client, kind, website_discovery, website_targets, maintenance, clusters, appliances or config_files',
      ],
    ],
    ["polling: {}\n", ["config.yaml:1:1: expected at least one of clusters, appliances and config_files"]],
    ["- clusters\n", ["config.yaml:1:1: expected a map: lines of a key, a colon, a space and a value"]],
    [
      "clusters:\n",
      [
        'config.yaml:1:1: clusters: expected a list of maps: start each one with "- ", and go on with a key, a colon, a space and a value',
      ],
    ],
    [
      "polling: &p { x: 1 }\nclusters: [{ name: c, appliances: [], polling: *p }]\n",
      [
        "config.yaml:1:15: polling: unknown key; expected vrrp, websites, discovery, max_concurrent_website_tests_per_appliance or max_concurrent_website_tests",
        "config.yaml:2:39: clusters[0].polling: unknown key; expected vrrp, websites, discovery or max_concurrent_website_tests_per_appliance",
      ],
    ],
    ["clusters: [{ name: a, appli", ["config.yaml:1:28: expected } before this: a { above is not closed"]],
  ])("%j: %j", async (text, errors) => {
    expect(await errorsOf(text)).toEqual(errors);
  });

  test("a missing file names its folder and the file of the package", async () => {
    const first = "; appliance-exporter init writes one, appliance-exporter demo needs none";
    const instead = `; the package has --config.file=/etc/appliance-exporter/config.yaml${first}`;
    const folder = JSON.stringify(join(process.cwd(), "no"));
    for (const [file, message] of [
      ["no/config.yaml", `no such file in ${folder}${instead}`],
      ["/no/config.yaml", `no such file${instead}`],
      ["/etc/appliance-exporter/config.yaml", `no such file${first}`],
    ] as const)
      expect(await loadConfig(file)).toMatchObject({ ok: false, errors: [{ file, path: "", message }] });
  });

  test("a minimal configuration is valid", async () => {
    expect(await errorsOf("clusters: []\n")).toEqual([]);
  });
});

describe("unknown keys are errors everywhere, with a suggestion", () => {
  test.each([
    ["pollling: {}\nclusters: []\n", '1:1: unknown key "pollling"; did you mean "polling"?'],
    [
      "clusters: [{ name: c, appliances: [], webstes: [] }]\n",
      '1:39: clusters[0]: unknown key "webstes"; did you mean "websites"?',
    ],
    [appliance("enable: true"), '4:5: appliances[0]: unknown key "enable"; did you mean "enabled"?'],
    [
      appliance("colour: blue"),
      "4:5: appliances[0]: unknown key; expected name, base_url, allow_http, enabled, kind, labels, websites, website_discovery, polling or http_client",
    ],
    [
      appliance("polling: { vrrp: { intervall: 5s } }"),
      '4:24: appliances[0].polling.vrrp: unknown key "intervall"; did you mean "interval"?',
    ],
    [
      appliance("http_client: { basic_auth: { username: u, password: p, pasword_file: p } }"),
      '4:60: appliances[0].http_client.basic_auth: unknown key "pasword_file"; did you mean "password_file"?',
    ],
    [
      appliance("websites: [{ id: 1, nmae: x }]"),
      '4:25: appliances[0].websites[0]: unknown key "nmae"; did you mean "name"?',
    ],
    [
      appliance("clusters: []"),
      '4:5: appliances[0]: unknown key "clusters" here; expected name, base_url, allow_http, enabled, kind, labels, websites, website_discovery, polling or http_client',
    ],
    [
      appliance("polling: { max_concurrent_website_tests: 5 }"),
      '4:16: appliances[0].polling: unknown key "max_concurrent_website_tests" here; expected vrrp, websites, discovery or max_concurrent_website_tests_per_appliance',
    ],
  ])("%j: %s", async (text, error) => {
    expect(await errorsOf(text)).toEqual([`config.yaml:${error}`]);
  });
});

/** Has errors of the schema, and others that only the second phase finds. */
const MISTAKEN = [
  "polling: { vrrp: { interval: 1x } }",
  "http_client: { basic_auth: { username: u, password_file: secrets/missing } }",
  "clusters:",
  "  - name: c",
  "    labels: { job: x }",
  "    appliances:",
  "      - { name: a, base_url: 10.0.0.1, enable: no }",
  '      - { name: a, base_url: "https://h", websites: [1, 1], polling: { websites: { timeout: 1h } } }',
  'config_files: ["x/*.yaml", d.yaml]',
].join("\n");

test("the schema errors of all files are reported together, in the order of the files", async () => {
  expect(await errorsOf({ "config.yaml": MISTAKEN, "d.yaml": "appliances: [{}]\n" })).toEqual([
    "config.yaml:1:20: polling.vrrp.interval: expected a duration of 1s to 1d, such as 1m30s",
    "config.yaml:5:15: clusters[0].labels[...]: this label name is reserved",
    'config.yaml:7:20: clusters[0].appliances[0].base_url: expected an https:// URL, got "10.0.0.1": write https://10.0.0.1',
    'config.yaml:7:40: clusters[0].appliances[0]: unknown key "enable"; did you mean "enabled"?',
    'config.yaml:9:16: config_files[0]: no file matches "x/*.yaml"',
    "d.yaml:1:14: appliances[0].name: required key is missing",
    "d.yaml:1:14: appliances[0].base_url: required key is missing",
  ]);
});

test("errors between keys and in named files are reported together when the schema is satisfied", async () => {
  const text = MISTAKEN.replace("1x", "5s")
    .replace("job:", "site:")
    .replace("10.0.0.1, enable: no", '"https://g"')
    .replace('"x/*.yaml", ', "");
  expect(
    await errorsOf({ "config.yaml": text, "d.yaml": 'appliances: [{ name: c, base_url: "https://i" }]\n' }),
  ).toEqual([
    "d.yaml:1:16: appliances[0].name: duplicate, also at config.yaml:4:5",
    'config.yaml:2:43: http_client.basic_auth.password_file: cannot use "secrets/missing": no such file',
    "config.yaml:8:11: clusters[0].appliances[1].name: duplicate, also at config.yaml:7:11",
    "config.yaml:8:57: clusters[0].appliances[1].websites[1]: duplicate website 1",
    "config.yaml:8:72: clusters[0].appliances[1].polling.websites: expected a timeout of at most the time between two polls, 30s",
  ]);
});
