import { expect, test } from "vitest";
import { sharedAddresses } from "../../../src/exporter/config/shared-addresses.ts";
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
  expect(shared).toEqual(["https://h (a and c)", "https://g (d and e)"]);
});
