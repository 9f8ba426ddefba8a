import { beforeAll, expect, test } from "vitest";
import { loadWebConfig } from "../../../src/exporter/web/web-config.ts";
import { createAuthority } from "../../support/certificates.ts";
import { HASH, loadWeb } from "./support.ts";

let files: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const authority = await createAuthority();
  const { cert, key } = await authority.issue();
  files = { "server.pem": cert, "server.key": key, "ca.pem": authority.cert };
});

test("every supported key is loaded", async () => {
  const { config, errors, sources } = await loadWeb(
    `tls_server_config:
  cert_file: server.pem
  key_file: server.key
  client_ca_file: ca.pem
  client_auth_type: RequireAndVerifyClientCert
  min_version: TLS13
http_server_config:
  http2: true
  headers:
    Content-Security-Policy: |
      default-src 'self';
      img-src 'none'
    X-Frame-Options: sameorigin
    X-XSS-Protection: 0
basic_auth_users: { monitor: $2y$${HASH}, 007: $2a$${HASH} }
`,
    files,
  );
  expect(errors).toEqual([]);
  expect(config).toMatchObject({
    tls: {
      cert: files["server.pem"],
      clientCa: files["ca.pem"],
      clientAuth: "RequireAndVerifyClientCert",
      minVersion: "TLSv1.3",
    },
    headers: {
      "Content-Security-Policy": "default-src 'self'; img-src 'none'",
      "X-Frame-Options": "sameorigin",
      "X-XSS-Protection": "0",
    },
  });
  expect(config?.tls?.key.reveal()).toBe(files["server.key"]);
  expect([...(config?.users ?? [])].map(([name, hash]) => [name, hash.reveal()])).toEqual([
    ["monitor", `$2y$${HASH}`],
    ["007", `$2a$${HASH}`],
  ]);
  expect(sources).toEqual(["ca.pem", "server.key", "server.pem", "web.yaml"]);
});

test("an empty map is a valid configuration without protection", async () => {
  const { config, errors } = await loadWeb("{}");
  expect(errors).toEqual([]);
  expect(config).toEqual({ tls: undefined, users: new Map(), headers: {} });
});

const PAIR = "cert_file: server.pem, key_file: server.key";
const AES = ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"];

test("a cipher suite that OpenSSL lacks is left out, with a warning", async () => {
  const suites = ["TLS_AES_128_GCM_SHA256", ...AES, "TLS_RSA_WITH_3DES_EDE_CBC_SHA"];
  const yaml = `tls_server_config: { ${PAIR}, cipher_suites: [${suites.join(", ")}] }`;
  const { config, errors, warnings } = await loadWeb(yaml, files);
  expect([errors, warnings]).toEqual([
    [],
    [
      "tls_server_config.cipher_suites: this version of OpenSSL has no TLS_RSA_WITH_3DES_EDE_CBC_SHA: left out",
    ],
  ]);
  expect(config?.tls?.ciphers).toEqual(["ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256"]);
});

test("certificates and keys may be inline", async () => {
  const tls = { cert: files["server.pem"], key: files["server.key"], client_ca: files["ca.pem"] };
  const yaml = JSON.stringify({
    tls_server_config: { ...tls, client_auth_type: "RequireAndVerifyClientCert" },
  });
  const { config, errors, sources } = await loadWeb(yaml);
  expect(errors).toEqual([]);
  expect(config?.tls).toMatchObject({ cert: tls.cert, clientCa: tls.client_ca });
  expect(config?.tls?.key.reveal()).toBe(tls.key);
  expect(sources).toEqual(["web.yaml"]);
});

test("an inline key must match the certificate, and no error shows it", async () => {
  const stranger = await (await createAuthority("stranger")).issue();
  const yaml = JSON.stringify({ tls_server_config: { cert_file: "server.pem", key: stranger.key } });
  const { errors } = await loadWeb(yaml, files);
  expect(errors).toEqual([
    "web.yaml:1:48: tls_server_config.key: TLS rejects this key with this certificate",
  ]);
});

test("all errors of the schema are reported together, with positions and without secrets", async () => {
  const { errors } = await loadWeb(
    `tls_server_config:
  cert_file: nowhere.pem
  client_auth_type: Sometimes
  min_version: TLS1.2
  certfile: server.pem
http_server_config:
  http3: true
  headers: { X-Frame-Options: DENY, X-Powered-By: us, X-XSS-Protection: [1], Content-Security-Policy: "a\\u0001b" }
basic_auth_users:
  monitor: hunter2
  cheap: $2y$03$${HASH.slice(3)}
  hunter:hunter2:
colour: blue
`,
    files,
  );
  expect(errors).toEqual([
    "web.yaml:3:3: tls_server_config.client_auth_type: expected NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert",
    "web.yaml:4:3: tls_server_config.min_version: expected TLS10, TLS11, TLS12 or TLS13: write TLS12",
    'web.yaml:5:3: tls_server_config: unknown key "certfile"; did you mean "cert_file"?',
    'web.yaml:7:3: http_server_config: unknown key "http3"; did you mean "http2"?',
    "web.yaml:8:14: http_server_config.headers.X-Frame-Options: expected deny or sameorigin: write deny",
    "web.yaml:8:37: http_server_config.headers: unknown key; expected Content-Security-Policy, Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options or X-XSS-Protection",
    "web.yaml:8:55: http_server_config.headers.X-XSS-Protection: expected a valid HTTP header value",
    "web.yaml:8:78: http_server_config.headers.Content-Security-Policy: expected a valid HTTP header value",
    "web.yaml:10:3: basic_auth_users[...]: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$: `htpasswd -nBC 12 NAME` of the package apache2-utils makes one",
    "web.yaml:11:3: basic_auth_users[...]: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$: `htpasswd -nBC 12 NAME` of the package apache2-utils makes one",
    "web.yaml:12:3: basic_auth_users[...]: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$: `htpasswd -nBC 12 NAME` of the package apache2-utils makes one",
    "web.yaml:13:1: unknown key; expected tls_server_config, basic_auth_users, maintenance_users or http_server_config",
  ]);
});

test("all invalid files are reported together and watched", async () => {
  const { errors, sources } = await loadWeb(
    `tls_server_config:
  cert_file: nowhere.pem
  key_file: server.pem
  client_ca_file: server.key
  client_auth_type: VerifyClientCertIfGiven
`,
    files,
  );
  expect(errors).toEqual([
    'web.yaml:2:3: tls_server_config.cert_file: cannot use "nowhere.pem": no such file',
    'web.yaml:3:3: tls_server_config.key_file: cannot use "server.pem": expected a private key in PEM without a passphrase',
    'web.yaml:4:3: tls_server_config.client_ca_file: cannot use "server.key": expected valid certificates in PEM',
  ]);
  expect(sources).toEqual(["nowhere.pem", "server.key", "server.pem", "web.yaml"]);
});

test.each([
  [
    "tls_server_config: { key_file: server.key }",
    "1:1: tls_server_config.cert_file: required key is missing",
  ],
  [
    "tls_server_config: { cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem }",
    "1:67: tls_server_config.client_ca_file: needs a client_auth_type other than NoClientCert",
  ],
  [
    `tls_server_config: { ${PAIR}, client_auth_type: RequireAndVerifyClientCert }`,
    "1:67: tls_server_config.client_auth_type: needs client_ca_file, the authorities of client certificates",
  ],
  [
    `tls_server_config: { ${PAIR}, client_auth_type: VerifyClientCertIfGiven, client_allowed_sans: [a] }`,
    "1:110: tls_server_config.client_allowed_sans: needs RequireAnyClientCert or RequireAndVerifyClientCert as client_auth_type",
  ],
  [
    `tls_server_config: { ${PAIR}, min_version: TLS13, max_version: TLS12 }`,
    "1:87: tls_server_config.max_version: is below min_version",
  ],
  [
    `tls_server_config: { ${PAIR}, cipher_suites: [TLS_RSA_WITH_ROT13] }`,
    "1:83: tls_server_config.cipher_suites[0]: expected the name of a cipher suite of Go, got TLS_RSA_WITH_ROT13",
  ],
  [
    `tls_server_config: { ${PAIR}, curve_preferences: [X25519, CurveP257] }`,
    "1:95: tls_server_config.curve_preferences[1]: expected the name of a curve of Go, got CurveP257",
  ],
  [
    `tls_server_config: { ${PAIR}, cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA] }`,
    "1:67: tls_server_config.cipher_suites: HTTP/2 needs TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: add one of them, or set http2: false",
  ],
  [
    `{ tls_server_config: { ${PAIR}, cipher_suites: [TLS_RSA_WITH_3DES_EDE_CBC_SHA] }, http_server_config: { http2: false } }`,
    "1:69: tls_server_config.cipher_suites: this version of OpenSSL has no TLS_RSA_WITH_3DES_EDE_CBC_SHA",
  ],
  [
    'tls_server_config: { cert: "", key_file: server.key }',
    "1:22: tls_server_config.cert: expected valid certificates in PEM",
  ],
  [
    'tls_server_config: { cert_file: server.pem, key: "" }',
    "1:45: tls_server_config.key: expected a private key in PEM without a passphrase",
  ],
  [
    `tls_server_config: { ${PAIR}, key: hunter2 }`,
    "1:67: tls_server_config.key: expected either key or key_file, got both",
  ],
  [
    `tls_server_config: { ${PAIR}, client_auth_type: RequireAndVerifyClientCert, client_ca: hunter2 }`,
    "1:113: tls_server_config.client_ca: expected valid certificates in PEM",
  ],
  [
    `tls_server_config: { ${PAIR}, client_auth_type: RequireAndVerifyClientCert, client_ca: x, client_ca_file: ca.pem }`,
    "1:113: tls_server_config.client_ca: expected either client_ca or client_ca_file, got both",
  ],
  [
    `tls_server_config: { ${PAIR}, curve_preferences: [hunter2] }`,
    "1:87: tls_server_config.curve_preferences[0]: expected the name of a curve of Go",
  ],
  ["rate_limit: { interval: 1s, burst: 1 }", "1:1: rate_limit: not supported by this exporter"],
  [
    "tls_server_config: { cert_file: ca.pem, key_file: server.key }",
    "1:41: tls_server_config.key_file: TLS rejects this key with this certificate",
  ],
  [
    "basic_auth_users: { monitor:$2y$10$abc }",
    "1:21: basic_auth_users[...]: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$: `htpasswd -nBC 12 NAME` of the package apache2-utils makes one",
  ],
  [
    "basic_auth_users: [monitor]",
    "1:1: basic_auth_users: expected a map: lines of a key, a colon, a space and a value",
  ],
  ["tls_server_config: {", "1:21: expected } before this: a { above is not closed"],
  ["", "1:1: the file is empty"],
])("%j is refused", async (yaml, error) => {
  const { errors } = await loadWeb(yaml, files);
  expect(errors).toEqual([`web.yaml:${error}`]);
});

test("a missing file is reported", async () => {
  expect(await loadWebConfig("/nowhere/web.yaml")).toMatchObject({
    ok: false,
    errors: [{ file: "/nowhere/web.yaml", path: "", message: "no such file" }],
  });
});
