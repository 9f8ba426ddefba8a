import { expect, test } from "vitest";
import { parse } from "yaml";
import {
  clusterNameOf,
  firstConfigText,
  looksLikeAppliance,
  parseWanted,
  withDistinctNames,
} from "../../../src/exporter/command/init-config.ts";

function wantedOf(...texts: readonly string[]) {
  const wanted = texts
    .map((text) => parseWanted(text, "management_api"))
    .flatMap((parsed) => (parsed.ok ? parsed.wanted : []));
  expect(wanted).toHaveLength(texts.length);
  return withDistinctNames(wanted);
}

test.each([
  ["waf-ams-1", "waf-ams-1", "https://waf-ams-1:4849"],
  ["waf-ams-1.example.org:8443", "waf-ams-1", "https://waf-ams-1.example.org:8443"],
  ["https://waf.example.org:443/mgmt/", "waf", "https://waf.example.org/mgmt"],
  ["192.0.2.11", "192.0.2.11", "https://192.0.2.11:4849"],
  ["waf-1=192.0.2.11", "waf-1", "https://192.0.2.11:4849"],
  ["waf-1=https://[2001:db8::1]:8443", "waf-1", "https://[2001:db8::1]:8443"],
  ["[2001:db8::1]", "2001:db8::1", "https://[2001:db8::1]:4849"],
  ["localhost:4850", "localhost", "https://localhost:4850"],
])("%s is %s at %s", (text, name, baseUrl) => {
  expect(wantedOf(text)).toMatchObject([{ name, baseUrl }]);
});

test.each([
  "http://waf-1",
  "2001:db8::1",
  "https://u:p@waf-1",
  "https://waf-1/?a",
  "#1=waf-1",
  "ftp://waf-1",
  "a b",
])("%s is no appliance", (text) => {
  expect(parseWanted(text, "management_api")).toMatchObject({ ok: false });
});

test("appliances with one name are told apart by host, port and path", () => {
  expect(wantedOf("lb.example:1/a", "lb.example:1/b").map(({ name }) => name)).toEqual([
    "lb.example:1/a",
    "lb.example:1/b",
  ]);

  const names = wantedOf("waf.ams.example", "waf.fra.example:1", "other").map(({ name }) => name);
  expect(names).toEqual(["waf.ams.example:4849", "waf.fra.example:1", "other"]);
});

test.each([
  ["waf-ams", ["waf-ams-1", "waf-ams-2.example.org"]],
  ["fw", ["fw-a=192.0.2.1", "fw-b=192.0.2.2"]],
  ["ams", ["ams01", "ams02"]],
  ["cluster", ["192.0.2.11", "192.0.2.12"]],
  ["cluster", ["alpha", "beta"]],
  ["cluster", ["waf", "waf2"]],
])("a cluster is named %s, of %j", (name, texts) => {
  expect(clusterNameOf(wantedOf(...texts))).toBe(name);
});

test.each([
  ["config", false],
  [".", false],
  ["./a.b", false],
  ["../x", false],
  ["/etc/appliance-exporter", false],
  ["waf-1=waf", true],
  ["[2001:db8::11]", true],
  ["192.0.2.11", true],
  ["waf-1.example.org", true],
  ["waf-1:4849", true],
  ["https://waf-1", true],
])("whether %s is an appliance, and no folder: %j", (text, expected) => {
  expect(looksLikeAppliance(text)).toBe(expected);
});

test("names of any characters stay as they are", () => {
  const appliances = ["yes", "a: b # c", '"', "- x", "*a"].map((name) => ({ name, baseUrl: "https://h:1" }));
  const websites = Array.from({ length: 7 }, (_, id) => ({ id, name: id === 0 ? "" : `s\n${id}: {` }));
  const text = firstConfigText({
    kind: "management_api",
    cluster: "&x: 'y'",
    appliances,
    username: "mon#itor: 1",
    passwordFile: "secrets/password",
    websites,
  });
  expect(parse(text)).toEqual({
    http_client: { basic_auth: { username: "mon#itor: 1", password_file: "secrets/password" } },
    website_discovery: true,
    clusters: [
      {
        name: "&x: 'y'",
        appliances: appliances.map(({ name, baseUrl }) => ({ name, base_url: baseUrl })),
      },
    ],
  });
  expect(text).toContain("at first: 0, s 1: { (1), s 2: { (2), s 3: { (3), s 4: { (4), 2 more\n");
});

test("an appliance that stands alone is no cluster", () => {
  const appliances = [{ name: "a", baseUrl: "https://a:4849" }];
  const text = firstConfigText({
    kind: "management_api",
    cluster: "cluster",
    appliances,
    username: "u",
    passwordFile: "p",
    websites: [],
  });
  expect(parse(text)).toMatchObject({ appliances: [{ name: "a", base_url: "https://a:4849" }] });
  expect(text).toContain("at first: none\n");
});
