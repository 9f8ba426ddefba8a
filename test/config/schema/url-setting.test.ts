import { expect, test } from "vitest";
import { errorsOf } from "../folder.ts";

function withBaseUrl(baseUrl: string, rest = ""): string {
  return `appliances:\n  - name: a\n    base_url: ${baseUrl}\n${rest}`;
}

const at = "config.yaml:3:5: appliances[0].base_url:";
test.each([
  ["10.0.0.1", `${at} expected an https:// URL, got "10.0.0.1"`],
  ['"10.0.0.1:4849/mgmt"', `${at} expected an https:// URL, got "10.0.0.1:4849/mgmt"`],
  ["ftp://h", `${at} expected an https:// URL, got "ftp://h"`],
  ["7", `${at} expected an https:// URL, got 7`],
  ["https://", `${at} expected an https:// URL, got "https://"`],
  ["https://monitor:hunter2@h", `${at} expected a URL without credentials; they belong in basic_auth`],
  ["monitor:hunter2@h", `${at} expected an https:// URL`],
  ["https://monitor:hunter2", `${at} expected a URL with host, port and path`],
  ["https://h?token=hunter2", `${at} expected a URL without query and fragment`],
  ["https://h/#hunter2", `${at} expected a URL without query and fragment`],
  ["https://h:99999", `${at} expected a URL with host, port and path, got "https://h:99999"`],
  ["https://h:0", `${at} expected a URL with host, port and path, got "https://h:0"`],
  ['"https://h /x"', `${at} expected a URL with host, port and path`],
  ['"https://h\\\\x"', `${at} expected a URL with host, port and path`],
  [
    "http://h",
    `${at} expected an https:// URL, got one with http://; allow_http: true beside it allows that`,
  ],
])("%s: %s", async (baseUrl, error) => {
  expect(await errorsOf(withBaseUrl(baseUrl))).toEqual([error]);
});

test("http is refused with allow_http: false, and allowed with true", async () => {
  expect(await errorsOf(withBaseUrl("http://h", "    allow_http: false\n"))).toEqual([
    `${at} expected an https:// URL, got one with http://; allow_http: true beside it allows that`,
  ]);
  expect(await errorsOf(withBaseUrl("http://h", "    allow_http: true\n"))).toEqual([]);
});
