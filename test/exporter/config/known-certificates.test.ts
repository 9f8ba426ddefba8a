import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../../../src/exporter/config/config.ts";
import { loadHttpClient } from "../../../src/exporter/config/http-client.ts";
import {
  parseKnownCertificates,
  replaceCertificates,
} from "../../../src/exporter/config/known-certificates.ts";
import { createAuthority } from "../../support/certificates.ts";
import { configOf, createFolder, errorsOf, planOf, type Files } from "./folder.ts";

const AUTHORITY = await createAuthority();

/** As OpenSSL prints them. */
const [A = "", B, C = ""] = ["AA", "BB", "CC"].map((byte) =>
  Array.from({ length: 32 }, () => byte).join(":"),
);

test("a line has a name and a fingerprint, and any of several lines for one name counts", () => {
  const plain = C.replaceAll(":", "").toLowerCase();
  const text = `# Amsterdam\n\nwaf-1 ${A.toLowerCase()}\n  waf 2\t  ${B}  \r\nwaf-1 ${plain}`;
  const { known, invalidLine } = parseKnownCertificates(text);
  expect(invalidLine).toBeUndefined();
  expect([...known]).toEqual([
    ["waf-1", [A, C]],
    ["waf 2", [B]],
  ]);
});

test.each([
  ["waf-1", 1],
  [`# fine\nwaf-1 ${A}x`, 2],
  [`waf-1 ${A}\n\n${A}\n`, 3],
  ["-----BEGIN CERTIFICATE-----\n", 1],
])("%j is invalid", (text, line) => {
  expect(parseKnownCertificates(text).invalidLine).toBe(line);
});

test.each([
  ["", "waf-1 NEW\n"],
  [`# first\nwaf-2 ${A}\n\n`, `# first\nwaf-2 ${A}\n\nwaf-1 NEW\n`],
  [`waf-2 ${A}`, `waf-2 ${A}\nwaf-1 NEW\n`],
  [`waf-1 ${A}\n# kept\nwaf-2 ${A}\nwaf-1 ${B}\n`, `waf-1 NEW\n# kept\nwaf-2 ${A}\n`],
])("in %j, the lines of a name are replaced and all others stay", (text, replaced) => {
  expect(replaceCertificates(text, new Map([["waf-1", "NEW"]]))).toBe(replaced);
});

const CONFIG = `
http_client: { tls_config: { known_certificates_file: known } }
appliances:
  - { name: a, base_url: "https://a" }
  - { name: b, base_url: "https://b", http_client: { tls_config: { server_name: other } } }
  - { name: c, base_url: "https://c", http_client: { tls_config: { certificate_sha256: ["${C}"] } } }
  - { name: d, base_url: "https://d", http_client: { tls_config: { certificate_sha256: [] } } }
`;

function pinsOf({ appliances }: Config): Readonly<Record<string, readonly string[] | string>> {
  return Object.fromEntries(
    appliances.map(({ name, http: { tls } }) => {
      const { knownCertificates: known, certificateSha256: pins } = tls;
      return [
        name,
        known === undefined ? pins : `${known.appliance} in ${known.path.split("/").at(-1)}: ${pins.join()}`,
      ];
    }),
  );
}

describe("without a setting about trust", () => {
  const UNSET = `
appliances:
  - { name: a, base_url: "https://a" }
  - { name: b, base_url: "https://b" }
  - { name: c, base_url: "https://c", http_client: { tls_config: { insecure_skip_verify: true } } }
  - { name: d, base_url: "https://d", http_client: { tls_config: { certificate_sha256: ["${C}"] } } }
`;

  test("the file known_certificates beside the configuration counts for the appliances that it has", async () => {
    const config = await configOf({ "config.yaml": UNSET, known_certificates: `a ${A}\nc ${A}\nd ${A}\n` });
    expect(pinsOf(config)).toEqual({
      a: `a in known_certificates: ${A}`,
      b: "b in known_certificates: ",
      c: [],
      d: [C],
    });
    const optional = config.appliances.map(({ http: { tls } }) => tls.knownCertificates?.isOptional);
    expect(optional).toEqual([undefined, true, undefined, undefined]);
  });

  test("an invalid line of it is an error", async () => {
    expect(await errorsOf({ "config.yaml": UNSET, known_certificates: "a\n" })).toEqual([
      'config.yaml:2:1: cannot use "known_certificates": line 1: expected the name of an appliance and a SHA-256',
    ]);
  });

  test("authorities decide where ca_file is set", async () => {
    const text = `http_client: { tls_config: { ca_file: ca.pem } }${UNSET}`;
    const files = { "config.yaml": text, "ca.pem": AUTHORITY.cert, known_certificates: `a ${A}\n` };
    expect(pinsOf(await configOf(files))).toMatchObject({ a: [], b: [] });
  });
});

describe("known_certificates_file", () => {
  test("has the only certificates to trust of each appliance; an inner certificate_sha256 displaces it", async () => {
    const files: Files = { "config.yaml": CONFIG, known: `a ${A}\na ${B}\nc ${A}\nd ${A}\n` };
    expect(pinsOf(await configOf(files))).toEqual({
      a: `a in known: ${A},${B}`,
      b: "b in known: ",
      c: [C],
      d: [],
    });
  });

  test("displaces an outer certificate_sha256", async () => {
    const text = `
http_client: { tls_config: { certificate_sha256: ["${C}"] } }
appliances: [{ name: a, base_url: "https://a", http_client: { tls_config: { known_certificates_file: k } } }]
`;
    expect(pinsOf(await configOf({ "config.yaml": text, k: `a ${A}` }))).toEqual({ a: `a in k: ${A}` });
  });

  test("that does not exist is empty", async () => {
    expect(pinsOf(await configOf(CONFIG))).toMatchObject({ a: "a in known: ", b: "b in known: " });
  });

  test("with an invalid line is an error at the setting", async () => {
    expect(await errorsOf({ "config.yaml": CONFIG, known: `a ${A}\nb\n` })).toEqual([
      'config.yaml:2:30: http_client.tls_config.known_certificates_file: cannot use "known": line 2: expected the name of an appliance and a SHA-256',
    ]);
  });

  test("is no setting for the client of another exporter", async () => {
    const folder = await createFolder({
      "http.yaml": "http_client: { tls_config: { known_certificates_file: known } }\n",
    });
    expect(await loadHttpClient(join(folder, "http.yaml"))).toMatchObject({
      ok: false,
      errors: [
        { message: "known_certificates_file has certificates of appliances only; use certificate_sha256" },
      ],
    });
  });

  test("changes only the appliances whose lines change, at a reload", async () => {
    const folder = await createFolder({ "config.yaml": CONFIG, known: `a ${A}\nb ${B}\n` });
    const plan = await planOf(join(folder, "config.yaml"), () =>
      writeFile(join(folder, "known"), `# new\nb ${B}\na ${C}\n`),
    );
    expect(plan).toEqual({
      added: [],
      removed: [],
      changed: ["a"],
    });
  });
});
