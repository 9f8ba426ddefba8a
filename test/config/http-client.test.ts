import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { HttpClientConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createAuthority } from "../support/certificates.ts";
import { configOf, createFolder, errorsOf, type Files } from "./folder.ts";

let ca: string;
let client: { readonly cert: string; readonly key: string };
let other: { readonly cert: string; readonly key: string };

beforeAll(async () => {
  const authority = await createAuthority();
  ca = authority.cert;
  client = await authority.issue();
  other = await authority.issue();
});

const appliance = (rest: string) => `appliances: [{ name: a, base_url: "https://a"${rest} }]\n`;
const auth = (password: string) => `{ basic_auth: { username: u, password: ${password} } }`;

async function httpOf(text: string, files: Files = {}): Promise<HttpClientConfig> {
  const { appliances } = await configOf({ "config.yaml": text, ...files });
  if (!appliances[0]) throw new Error("no appliance");
  return appliances[0].http;
}

test("certificates and keys are loaded relative to the file that names them", async () => {
  const config = await configOf({
    "config.yaml": "http_client: { tls_config: { ca_file: tls/ca.pem } }\nconfig_files: [d/a.yaml]\n",
    "d/a.yaml": appliance(", http_client: { tls_config: { cert_file: c.pem, key_file: ../k.pem } }"),
    "tls/ca.pem": ca,
    "d/c.pem": `${client.cert}\n${ca}`,
    "k.pem": client.key,
  });
  const { tls } = config.appliances[0]?.http ?? {};
  expect([tls?.ca, tls?.cert, tls?.key?.reveal()]).toEqual([ca, `${client.cert}\n${ca}`, client.key]);
});

test("comments between certificates need not be UTF-8", async () => {
  const remarked = Buffer.concat([Buffer.from("# Z\xfcrich\n", "latin1"), Buffer.from(ca)]);
  const { tls } = await httpOf(appliance(", http_client: { tls_config: { ca_file: ca.pem } }"), {
    "ca.pem": remarked,
  });
  expect(tls.ca).toContain(ca);
});

test("tls_config is overridden key by key", async () => {
  const { tls } = await httpOf(
    [
      "http_client:",
      "  tls_config: { server_name: outer, min_version: TLS13, insecure_skip_verify: true }",
      appliance(", http_client: { tls_config: { server_name: inner, insecure_skip_verify: false } }"),
    ].join("\n"),
  );
  expect(tls).toEqual({
    ca: undefined,
    cert: undefined,
    key: undefined,
    serverName: "inner",
    minVersion: "TLSv1.3",
    insecureSkipVerify: false,
    certificateSha256: [],
  });
});

test("certificate fingerprints are converted to lower case without colons", async () => {
  const pin = "AB".repeat(32);
  const { tls } = await httpOf(
    appliance(`, http_client: { tls_config: { certificate_sha256: ["${pin}", "${"ab:".repeat(31)}ab"] } }`),
  );
  expect(tls.certificateSha256).toEqual(["ab".repeat(32), "ab".repeat(32)]);
});

test("basic_auth is overridden as a whole", async () => {
  const { basicAuth } = await httpOf(
    `http_client: { basic_auth: { username: outer, password_file: p } }\n${appliance(
      ", http_client: { basic_auth: { username: inner, password: hunter2 } }",
    )}`,
    { p: "x" },
  );
  expect(basicAuth?.username).toBe("inner");
  expect(basicAuth?.password.kind === "inline" && basicAuth.password.secret.reveal()).toBe("hunter2");
});

test("a password file becomes an absolute path", async () => {
  const { basicAuth } = await httpOf(
    appliance(", http_client: { basic_auth: { username: u, password_file: secrets/p } }"),
    { "secrets/p": "hunter2\n" },
  );
  const path = expect.stringMatching(/^\/.*\/config-test-[^/]*\/secrets\/p$/);
  expect(basicAuth).toEqual({ username: "u", password: { kind: "file", path } });
});

test.each([
  ["http://proxy.example", "proxy.example", 80, undefined],
  ["http://proxy.example:3128", "proxy.example", 3128, undefined],
  ["http://[2001:db8::1]:3128", "2001:db8::1", 3128, undefined],
  ["http://u:p%40ss%3A@proxy.example:3128/", "proxy.example", 3128, "u:p@ss:"],
  ["http://u@proxy.example", "proxy.example", 80, "u:"],
])("proxy_url %s is valid", async (text, host, port, credentials) => {
  const { proxy } = await httpOf(appliance(`, http_client: { proxy_url: "${text}" }`));
  expect([proxy?.host, proxy?.port, proxy?.credentials?.reveal()]).toEqual([host, port, credentials]);
});

test("a missing or invalid file is an error at the setting that names it", async () => {
  const encrypted = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "hunter2" },
  }).privateKey;
  const errors = await errorsOf({
    "config.yaml": [
      "appliances:",
      ...[
        "tls_config: { ca_file: missing.pem }",
        "tls_config: { ca_file: no.pem }",
        "tls_config: { ca_file: broken.pem }",
        "tls_config: { cert_file: key.pem, key_file: cert.pem }",
        "tls_config: { cert_file: cert.pem, key_file: encrypted.pem }",
        "tls_config: { cert_file: cert.pem, key_file: other.pem }",
        "basic_auth: { username: u, password_file: empty }",
        "basic_auth: { username: u, password_file: hunter2 }",
      ].map(
        (settings, index) => `  - { name: a${index}, base_url: "https://a", http_client: { ${settings} } }`,
      ),
    ].join("\n"),
    "no.pem": "nothing",
    "broken.pem": "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
    "cert.pem": client.cert,
    "key.pem": client.key,
    "other.pem": other.key,
    "encrypted.pem": encrypted,
    empty: "\r\n",
  });
  expect(
    errors.map((error) =>
      error.replace(/\/.*config-test-[^/"]*\//, "").replace(/\/.*config-test-[^/"]*/, "<folder>"),
    ),
  ).toEqual([
    'config.yaml:2:69: appliances[0].http_client.tls_config.ca_file: cannot use "missing.pem": no such file',
    'config.yaml:3:69: appliances[1].http_client.tls_config.ca_file: cannot use "no.pem": it contains no PEM certificate',
    'config.yaml:4:69: appliances[2].http_client.tls_config.ca_file: cannot use "broken.pem": it contains an invalid PEM certificate',
    'config.yaml:5:69: appliances[3].http_client.tls_config.cert_file: cannot use "key.pem": it contains no PEM certificate',
    'config.yaml:5:89: appliances[3].http_client.tls_config.key_file: cannot use the key file "cert.pem": it contains no PEM private key',
    'config.yaml:6:90: appliances[4].http_client.tls_config.key_file: cannot use the key file "encrypted.pem": the key is encrypted; expected a key without a passphrase',
    "config.yaml:7:90: appliances[5].http_client.tls_config.key_file: the key does not match the certificate in cert_file",
    'config.yaml:8:82: appliances[6].http_client.basic_auth.password_file: cannot use the password file "empty": it is empty',
    'config.yaml:9:82: appliances[7].http_client.basic_auth.password_file: cannot use the password file: no such file, relative to "<folder>"',
  ]);
});

test("fingerprints are equal for equal settings, regardless of the block, and only for those", async () => {
  const inner = (settings: string) => appliance(`, http_client: ${settings}`);
  const fingerprints = await Promise.all(
    [
      inner(auth("one")),
      `http_client: ${auth("one")}\n${appliance("")}`,
      inner(auth("two")),
      inner("{ basic_auth: { username: v, password: one } }"),
      inner("{ proxy_url: http://u:one@h }"),
      inner("{ proxy_url: http://u:two@h }"),
      inner("{ tls_config: { server_name: u } }"),
      appliance(""),
    ].map(async (text) => (await httpOf(text)).fingerprint),
  );
  expect(fingerprints[0]).toBe(fingerprints[1]);
  expect(new Set(fingerprints).size).toBe(7);
});

test.each([
  ["tls_config: { ca_file: file }", true],
  ["basic_auth: { username: u, password_file: file }", false],
])("whether a fingerprint depends on the content of the file in %s: %s", async (settings, counts) => {
  const folder = await createFolder({ "config.yaml": appliance(`, http_client: { ${settings} }`) });
  const fingerprints = [];
  for (const { cert } of [client, other]) {
    await writeFile(join(folder, "file"), counts ? cert : cert.replaceAll("\n", ""));
    const result = await loadConfig(join(folder, "config.yaml"));
    fingerprints.push(result.ok && result.config.appliances[0]?.http.fingerprint);
  }
  expect(fingerprints).not.toContain(false);
  expect(fingerprints[0] !== fingerprints[1]).toBe(counts);
});
