import { expect, test } from "vitest";
import { listFew, sharedAddresses } from "../../src/config/shared-addresses.ts";
import { configOf } from "./folder.ts";

const lone = (name: string, url: string, more = ""): string =>
  `  - { name: ${name}, base_url: "${url}"${more} }\n`;

async function sharedOf(...appliances: readonly string[]) {
  const { appliances: all } = await configOf(`appliances:\n${appliances.join("")}`);
  return sharedAddresses(all);
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
  expect(shared).toEqual(["https://h (a, c)", "https://g (d, e)"]);
});

test("the first few are listed and the rest is counted", () => {
  expect(listFew(["a", "b", "c", "d", "e", "f", "g"])).toBe("a, b, c, d, e, and 2 more");
});
