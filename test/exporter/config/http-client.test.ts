import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generate } from "selfsigned";
import { beforeAll, expect, test } from "vitest";
import type { HttpClientConfig } from "../../../src/exporter/config/config.ts";
import { digestOf } from "../../../src/exporter/config/load-in-thread.ts";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { createAuthority } from "../../support/certificates.ts";
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
  expect(tls).toMatchObject({
    serverName: "inner",
    minVersion: "TLSv1.3",
    insecureSkipVerify: false,
    certificateSha256: [],
  });
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

test.each([
  ["http://proxy.example", "proxy.example", 80, undefined],
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
    'config.yaml:3:69: appliances[1].http_client.tls_config.ca_file: cannot use "no.pem": expected valid certificates in PEM',
    'config.yaml:4:69: appliances[2].http_client.tls_config.ca_file: cannot use "broken.pem": expected valid certificates in PEM',
    'config.yaml:5:69: appliances[3].http_client.tls_config.cert_file: cannot use "key.pem": expected valid certificates in PEM',
    'config.yaml:5:89: appliances[3].http_client.tls_config.key_file: cannot use "cert.pem": expected a private key in PEM without a passphrase',
    'config.yaml:6:90: appliances[4].http_client.tls_config.key_file: cannot use "encrypted.pem": expected a private key in PEM without a passphrase',
    "config.yaml:7:90: appliances[5].http_client.tls_config.key_file: TLS rejects this key with this certificate",
    'config.yaml:8:82: appliances[6].http_client.basic_auth.password_file: cannot use "empty": it is empty',
    'config.yaml:9:82: appliances[7].http_client.basic_auth.password_file: cannot use this file in "<folder>": no such file',
  ]);
});

test.each([
  ["tls_config: { ca_file: file }", true],
  ["basic_auth: { username: u, password_file: file }", false],
])("whether a digest depends on the content of the file in %s: %s", async (settings, counts) => {
  const folder = await createFolder({ "config.yaml": appliance(`, http_client: { ${settings} }`) });
  const digests = [];
  for (const { cert } of [client, other]) {
    await writeFile(join(folder, "file"), counts ? cert : cert.replaceAll("\n", ""));
    const result = await loadConfig(join(folder, "config.yaml"));
    digests.push(result.ok && result.config.appliances.map(({ http }) => digestOf(http)).join());
  }
  expect(digests).not.toContain(false);
  expect(digests[0] !== digests[1]).toBe(counts);
});

test("a weak client certificate needs insecure_legacy_tls, in its block or another one", async () => {
  const options = { algorithm: "sha256", keyType: "rsa", keySize: 1024 } as const;
  const weak = await generate([{ name: "commonName", value: "weak" }], options);
  const files = { "weak.pem": weak.cert, "weak.key": weak.private };
  const own = "tls_config: { cert_file: weak.pem, key_file: weak.key }";
  const config = (outer: string) =>
    `http_client: { tls_config: { ${outer} } }\n${appliance(`, http_client: { ${own} }`)}`;
  expect(await errorsOf({ "config.yaml": config("min_version: TLS12"), ...files })).toEqual([
    expect.stringMatching(
      /\.tls_config\.key_file: the key or the certificate is too weak, and insecure_legacy_tls is not set$/,
    ),
  ]);
  for (const outer of ["insecure_legacy_tls: true", "min_version: TLS10"])
    expect((await httpOf(config(outer), files)).tls.cert).toBe(weak.cert);
});
