import { expect, test } from "vitest";
import { configOf } from "./folder.ts";

test("an appliance with only a name and a URL has the built-in settings", async () => {
  const config = await configOf("appliances: [{ name: a, base_url: https://192.0.2.11:4849 }]\n");
  expect(config).toEqual({
    appliances: [
      {
        name: "a",
        cluster: "a",
        isAlone: true,
        enabled: true,
        kind: "management_api",
        baseUrl: "https://192.0.2.11:4849",
        labels: {},
        websites: [],
        polling: {
          vrrp: { kind: "interval", intervalMs: 5_000, timeoutMs: 4_000 },
          websites: { kind: "interval", intervalMs: 30_000, timeoutMs: 20_000 },
          discovery: { kind: "interval", intervalMs: 300_000, timeoutMs: 20_000 },
          maxConcurrentWebsiteTests: 4,
        },
        http: {
          basicAuth: undefined,
          tls: {
            ca: undefined,
            cert: undefined,
            key: undefined,
            serverName: undefined,
            minVersion: undefined,
            insecureSkipVerify: false,
            certificateSha256: [],
            knownCertificates: {
              path: expect.stringMatching(/\/known_certificates$/),
              appliance: "a",
              isOptional: true,
            },
          },
          proxy: undefined,
        },
      },
    ],
    maxConcurrentWebsiteTests: 64,
    websiteTargets: { ports: [], private: false },
    maintenance: [],
  });
});

test("inner settings override outer ones key by key, and labels and websites are merged", async () => {
  const config = await configOf(
    [
      "polling:",
      "  vrrp: { interval: 10s, timeout: 3s }",
      "  max_concurrent_website_tests: 7",
      "  max_concurrent_website_tests_per_appliance: 2",
      "clusters:",
      "  - name: c",
      "    labels: { site: ams, rack: a }",
      "    websites: [1]",
      "    polling: { vrrp: { timeout: 5s }, websites: { interval: 1m } }",
      "    appliances:",
      "      - name: a",
      "        base_url: https://a",
      "        labels: { rack: b, unit: '7' }",
      "        websites: [{ id: 2, name: shop, protocol: both, expect_status: [200-399, 401] }]",
      "        polling: { vrrp: { interval: 6s }, max_concurrent_website_tests_per_appliance: 1 }",
      "      - { name: b, base_url: https://b, enabled: false }",
    ].join("\n"),
  );
  const expectStatus = [{ from: 200, to: 399 }];
  expect(config.maxConcurrentWebsiteTests).toBe(7);
  expect(config.appliances.map((appliance) => ({ ...appliance, http: undefined }))).toEqual([
    {
      name: "a",
      cluster: "c",
      isAlone: false,
      enabled: true,
      kind: "management_api",
      baseUrl: "https://a",
      labels: { site: "ams", rack: "b", unit: "7" },
      websites: [
        { id: 1, name: "1", protocols: undefined, expectStatus },
        {
          id: 2,
          name: "shop",
          protocols: ["http", "https"],
          expectStatus: [
            { from: 200, to: 399 },
            { from: 401, to: 401 },
          ],
        },
      ],
      polling: {
        vrrp: { kind: "interval", intervalMs: 6_000, timeoutMs: 5_000 },
        websites: { kind: "interval", intervalMs: 60_000, timeoutMs: 20_000 },
        discovery: { kind: "interval", intervalMs: 300_000, timeoutMs: 20_000 },
        maxConcurrentWebsiteTests: 1,
      },
    },
    {
      name: "b",
      cluster: "c",
      isAlone: false,
      enabled: false,
      kind: "management_api",
      baseUrl: "https://b",
      labels: { site: "ams", rack: "a" },
      websites: [{ id: 1, name: "1", protocols: undefined, expectStatus }],
      polling: {
        vrrp: { kind: "interval", intervalMs: 10_000, timeoutMs: 5_000 },
        websites: { kind: "interval", intervalMs: 60_000, timeoutMs: 20_000 },
        discovery: { kind: "interval", intervalMs: 300_000, timeoutMs: 20_000 },
        maxConcurrentWebsiteTests: 2,
      },
    },
  ]);
});

test.each([
  ["{ interval: 2s }", "{}", { kind: "interval", intervalMs: 2_000, timeoutMs: 2_000 }],
  ["{ interval: 1m }", "{}", { kind: "interval", intervalMs: 60_000, timeoutMs: 4_000 }],
  [
    "{ interval: 1m }",
    '{ schedule: "*/2 * * * * *" }',
    { kind: "schedule", expression: "*/2 * * * * *", timeoutMs: 2_000 },
  ],
  [
    '{ schedule: "0 * * * * *" }',
    "{ interval: 3s }",
    { kind: "interval", intervalMs: 3_000, timeoutMs: 3_000 },
  ],
  [
    '{ schedule: "0 * * * * *" }',
    "{ timeout: 1m }",
    { kind: "schedule", expression: "0 * * * * *", timeoutMs: 60_000 },
  ],
])("vrrp: %s around %s is %j", async (outer, inner, timing) => {
  const { appliances } = await configOf(
    `polling: { vrrp: ${outer} }\nappliances: [{ name: a, base_url: https://a, polling: { vrrp: ${inner} } }]\n`,
  );
  expect(appliances[0]?.polling.vrrp).toEqual(timing);
});

test.each([
  ["HTTPS://Host.Example:443/", "https://host.example"],
  ["https://[2001:DB8::12]:4849/mgmt/", "https://[2001:db8::12]:4849/mgmt"],
])("base_url %s becomes %s", async (text, baseUrl) => {
  const { appliances } = await configOf(`appliances: [{ name: a, base_url: "${text}" }]\n`);
  expect(appliances[0]?.baseUrl).toBe(baseUrl);
});

test.each([
  ["true", "", { exclude: [], limit: 200 }],
  ["false", ", website_discovery: true", { exclude: [], limit: 200 }],
  ["{ exclude: [9] }", ", website_discovery: { limit: 3 }", { exclude: [9], limit: 3 }],
  ["{ exclude: [9] }", ", website_discovery: true", { exclude: [9], limit: 200 }],
  ["{ exclude: [9], limit: 3 }", ", website_discovery: { exclude: [] }", { exclude: [], limit: 3 }],
  ["true", ", website_discovery: false", undefined],
])("website_discovery: %s around an appliance%s is %j", async (outer, inner, discovery) => {
  const { appliances } = await configOf(
    `website_discovery: ${outer}\nappliances: [{ name: a, base_url: https://a${inner} }]\n`,
  );
  expect(appliances[0]?.discovery).toEqual(discovery);
});
