import { expect, test } from "vitest";
import { describeSharedAddresses, findSharedAddresses } from "../../src/config/shared-addresses.ts";
import { configOf } from "./folder.ts";

const lone = (name: string, url: string, more = ""): string =>
  `  - { name: ${name}, base_url: "${url}"${more} }\n`;

async function sharedOf(...appliances: readonly string[]) {
  const { appliances: all } = await configOf(`appliances:\n${appliances.join("")}`);
  return findSharedAddresses(all);
}

test("addresses that enabled appliances share behind the same proxy are found in order", async () => {
  const shared = await sharedOf(
    lone("a", "https://h"),
    lone("b", "https://other"),
    lone("c", "https://H:443/"),
    lone("d", "https://g"),
    lone("e", "https://g"),
    lone("f", "https://other", ", enabled: false"),
    lone("proxied", "https://h", ', http_client: { proxy_url: "http://one:3128" }'),
  );
  expect(shared).toEqual([
    { baseUrl: "https://h", appliances: ["a", "c"] },
    { baseUrl: "https://g", appliances: ["d", "e"] },
  ]);
});

test("the first few are listed and the rest is counted", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const shared = names.map((name) => ({ baseUrl: `https://${name}`, appliances: [`${name}1`, `${name}2`] }));
  expect(describeSharedAddresses(shared)).toBe(
    "https://a (a1, a2), https://b (b1, b2), https://c (c1, c2), https://d (d1, d2), https://e (e1, e2), and 2 more",
  );
  expect(describeSharedAddresses([{ baseUrl: "https://h", appliances: names }])).toBe(
    "https://h (a, b, c, d, e, and 2 more)",
  );
});
