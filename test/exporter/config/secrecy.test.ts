import * as fc from "fast-check";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { createFolder, errorsOf } from "./folder.ts";

const canary = "c4n4ry";

/** Secrets in every place, each with a mistake that an error reports. */
const mistaken: readonly string[] = [
  `http_client: { basic_auth: { username: "u:${canary}", password: ["${canary}"] } }`,
  `http_client: { basic_auth: { username: u, password: "${canary}\\0" } }`,
  `http_client: { basic_auth: { username: u, password: ${canary}, password_file: ${canary} } }`,
  `http_client: { basic_auth: { username: u, password_file: ${canary} } }`,
  `http_client: { basic_auth: { username: u, password_file: ${canary}.${"x-y_z".repeat(60)} } }`,
  `http_client: { basic_auth: { username: u, password_file: "${canary}/+=" } }`,
  `http_client: { basic_auth: { username: u, password:${canary} } }`,
  `http_client: { basic_auth: { username: u, password, ${canary} } }`,
  `http_client: { basic_auth: { username: u, ${canary}: x } }`,
  `http_client: { basic_auth: { username: u, ${canary} } }`,
  `http_client: { tls_config: { ${canary}: x } }`,
  `http_client: { ${canary}: { password: x } }`,
  `${canary}: x`,
  `clusters: [{ name: c, appliances: [], labels: { ${canary}: 1 } }]`,
  `clusters: [{ name: c, appliances: [], labels: { "${canary}-": x } }]`,
  `clusters: [{ name: c, appliances: [], website_discovery: { ${canary}: x } }]`,
  `appliances: [{ name: a, base_url: "https://h", websites: [{ id: 1, ${canary}: x }] }]`,
  `http_client: { basic_auth: ${canary} }`,
  `http_client: { basic_auth: { username: u, password: *${canary} } }`,
  `http_client: { basic_auth: { username: u, password: &${canary} } }`,
  `http_client: { basic_auth: { username: u, password: !${canary} x } }`,
  `http_client: { basic_auth: { username: u, password: @${canary} } }`,
  `http_client: { basic_auth: { username: u, password: %${canary} } }`,
  `http_client: { basic_auth: { username: u, password: "${canary}\\q" } }`,
  `http_client: { basic_auth: { username: u, password: '${canary} } }`,
  `http_client: { basic_auth: { username: u, password: ${canary}: x } }`,
  `http_client:\n  basic_auth:\n    password: x: ${canary}`,
  `http_client:\n  basic_auth:\n    password:\n  ${canary}`,
  `http_client: { proxy_url: "https://u:${canary}@h" }`,
  `http_client: { proxy_url: "http://u:${canary}@h/path" }`,
  `http_client: { proxy_url: { ${canary}: ${canary} } }`,
  `http_client: { tls_config: { cert_file: x, key_file: "-----BEGIN PRIVATE KEY-----\\n${canary}" } }`,
  `http_client: { tls_config: { cert_file: x, key_file: "-----BEGIN PRIVATE KEY-----${canary}-----END PRIVATE KEY-----" } }`,
  `http_client: { tls_config: { cert_file: x, key_file: "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIB${canary}/+" } }`,
  `http_client: { tls_config: { ca_file: "-----BEGIN PRIVATE KEY----- ${canary}" } }`,
  `http_client: { tls_config: { cert_file: "-----BEGIN RSA PRIVATE KEY-----\r${canary}" } }`,
  `http_client: { tls_config: { key_file: [${canary}] } }`,
  `appliances: [{ name: a, base_url: "https://u:${canary}@h" }]`,
  `appliances: [{ name: a, base_url: "u:${canary}@h" }]`,
  `appliances: [{ name: a, base_url: "https://u:${canary}" }]`,
  `appliances: [{ name: a, base_url: "https://h?password=${canary}" }]`,
  `appliances: [{ name: a, base_url: "https://h/#${canary}" }]`,
  `appliances: [{ name: a, base_url: "ftp://u:${canary}@h" }]`,
];

test.each(mistaken)("no error shows the secret in: %s", async (text) => {
  // Without other errors, the files are read too.
  const errors = await errorsOf(text.startsWith("http_client") ? `${text}\nclusters: []\n` : `${text}\n`);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.join("\n")).not.toContain(canary);
});

test("no error shows the secret, wherever one character of the file is replaced, added or missing", async () => {
  const text = `a:\n  password: "${canary}\\n${canary}"\n  key: { x: '${canary}', y: ${canary} }\n`;
  const edits = fc.tuple(
    fc.nat(text.length),
    fc.nat(1),
    fc.constantFrom("", ...Array.from("\"'{}[],:&*!|>%@`#-?\\\t\n ")),
  );
  await fc.assert(
    fc.asyncProperty(edits, async ([at, removed, added]) => {
      const edited = text.slice(0, at) + added + text.slice(at + removed);
      expect((await errorsOf(edited)).join("\n")).not.toContain(canary);
    }),
    { numRuns: 60 },
  );
});

test("no error shows the content of a password file or a key file", async () => {
  const errors = await errorsOf({
    "config.yaml": [
      "http_client:",
      "  basic_auth: { username: u, password_file: p }",
      "  tls_config: { ca_file: p, cert_file: p, key_file: p }",
      "clusters: []",
    ].join("\n"),
    p: `${canary}\n${canary}`,
  });
  expect(errors.length).toBe(4);
  expect(errors.join("\n")).not.toContain(canary);
});

/** Maps of valid keys with any values. */
const shaped = fc
  .json()
  .map(
    (json) =>
      `polling: ${json}\nhttp_client: ${json}\nclusters: [${json}]\nappliances: ${json}\nconfig_files: [${json}]\n`,
  );

test("loading valid keys with any values returns a configuration or errors and never throws", async () => {
  await fc.assert(
    fc.asyncProperty(shaped, async (content) => {
      const folder = await createFolder({ "config.yaml": content });
      expect(await loadConfig(`${folder}/config.yaml`)).toHaveProperty("ok");
    }),
    { numRuns: 50 },
  );
});
