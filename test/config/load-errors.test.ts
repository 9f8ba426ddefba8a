import { describe, expect, test } from "vitest";
import { errorsOf } from "./folder.ts";

/** A file with one lone appliance, whose last setting stands in line 4 from column 5 on. */
function withAppliance(setting: string): string {
  return `appliances:\n  - name: a\n    base_url: https://h\n    ${setting}\n`;
}

describe("the file as a whole", () => {
  test.each([
    ["", ["config.yaml:1:1: the file is empty"]],
    ["polling: {}\n", ["config.yaml:1:1: expected at least one of clusters, appliances and config_files"]],
    ["- clusters\n", ["config.yaml:1:1: expected a map, got a list"]],
    ["clusters: []\nappliance: x\n", ["config.yaml:2:1: appliance: unknown key"]],
    ["clusters:\n", ["config.yaml:1:1: clusters: expected a list, got nothing"]],
    ["clusters:\n  - nam", ["config.yaml:2:5: clusters[0]: expected a map, got a text"]],
    ["clusters: [{ name: a, appli", ["config.yaml:1:28: wrong indentation"]],
  ])("%j: %j", async (text, errors) => {
    expect(await errorsOf(text)).toEqual(errors);
  });

  test("a file that was deleted", async () => {
    expect(await errorsOf({})).toEqual(["config.yaml: no such file"]);
  });

  test("a bare minimum is enough", async () => {
    expect(await errorsOf("clusters: []\n")).toEqual([]);
  });
});

describe("unknown keys are refused everywhere", () => {
  test.each([
    ["clusters: [{ name: c, appliances: [], x: 1 }]\n", "config.yaml:1:39: clusters[0].x: unknown key"],
    [withAppliance("x: 1"), "config.yaml:4:5: appliances[0].x: unknown key"],
    [withAppliance("polling: { x: 1 }"), "config.yaml:4:16: appliances[0].polling.x: unknown key"],
    [
      withAppliance("polling: { vrrp: { x: 1 } }"),
      "config.yaml:4:24: appliances[0].polling.vrrp.x: unknown key",
    ],
    [withAppliance("http_client: { x: 1 }"), "config.yaml:4:20: appliances[0].http_client.x: unknown key"],
    [
      withAppliance("http_client: { tls_config: { x: 1 } }"),
      "config.yaml:4:34: appliances[0].http_client.tls_config.x: unknown key",
    ],
    [
      withAppliance("http_client: { basic_auth: { username: u, password: p, x: 1 } }"),
      "config.yaml:4:60: appliances[0].http_client.basic_auth.x: unknown key",
    ],
    [
      withAppliance("websites: [{ id: 1, x: 1 }]"),
      "config.yaml:4:25: appliances[0].websites[0].x: unknown key",
    ],
    [
      withAppliance("polling: { max_concurrent_website_tests: 5 }"),
      "config.yaml:4:16: appliances[0].polling.max_concurrent_website_tests: unknown key",
    ],
  ])("%j: %s", async (text, error) => {
    expect(await errorsOf(text)).toEqual([error]);
  });
});

test("everything that is wrong is reported at once, in the order of the file", async () => {
  const text = [
    "polling: { vrrp: { interval: 1x } }",
    "http_client: { basic_auth: { username: u, password_file: missing } }",
    "clusters:",
    "  - name: c",
    "    labels: { job: x }",
    "    appliances:",
    "      - { name: a, base_url: 10.0.0.1, enable: no }",
    '      - { name: a, base_url: "https://h", websites: [1, 1], polling: { websites: { timeout: 1h } } }',
    'config_files: ["x/*.yaml"]',
  ].join("\n");
  expect(await errorsOf(text)).toEqual([
    'config.yaml:1:20: polling.vrrp.interval: expected a duration such as 500ms, 15s or 1m30s, got "1x"',
    "config.yaml:2:43: http_client.basic_auth.password_file: cannot use this file: no such file",
    "config.yaml:5:15: clusters[0].labels.job: this label name is reserved",
    'config.yaml:7:20: clusters[0].appliances[0].base_url: expected an https:// URL, got "10.0.0.1"',
    "config.yaml:7:40: clusters[0].appliances[0].enable: unknown key",
    'config.yaml:8:11: clusters[0].appliances[1].name: duplicate name "a", first at config.yaml:7:11',
    "config.yaml:8:57: clusters[0].appliances[1].websites[1]: website 1 is already there",
    "config.yaml:8:84: clusters[0].appliances[1].polling.websites.timeout: expected at most the interval, 30s, got 1h",
    'config.yaml:9:16: config_files[0]: no file matches "x/*.yaml"',
  ]);
});

test("one error hides no other, in the same block or outside of it", async () => {
  const errors = await errorsOf(`polling: { vrrp: { interval: 5x } }
http_client: { tls_config: { bogus: 1 } }
appliances:
  - name: a
    base_url: "https://192.0.2.1"
    websites: [1, -2, 1, { id: 5, nmae: x }, 5, 5]
    polling: { vrrp: { interval: 5s, timeout: 6s } }
  - name: b
    base_url: "https://192.0.2.2"
    http_client: { tls_config: { cert_file: none.pem, nope: 1 } }
`);
  expect(errors.map((error) => error.replace(/"[^"]*none.pem"/, '"none.pem"'))).toEqual([
    'config.yaml:1:20: polling.vrrp.interval: expected a duration such as 500ms, 15s or 1m30s, got "5x"',
    "config.yaml:2:30: http_client.tls_config.bogus: unknown key",
    "config.yaml:6:19: appliances[0].websites[1]: expected a website's id, or a map with an id, got -2",
    "config.yaml:6:23: appliances[0].websites[2]: website 1 is already there",
    "config.yaml:6:35: appliances[0].websites[3].nmae: unknown key",
    "config.yaml:6:49: appliances[0].websites[5]: website 5 is already there",
    "config.yaml:7:38: appliances[0].polling.vrrp.timeout: expected at most the interval, 5s, got 6s",
    'config.yaml:10:34: appliances[1].http_client.tls_config.cert_file: cannot use "none.pem": no such file',
    "config.yaml:10:34: appliances[1].http_client.tls_config.cert_file: expected key_file beside it",
    "config.yaml:10:55: appliances[1].http_client.tls_config.nope: unknown key",
  ]);
});
