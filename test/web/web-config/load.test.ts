import { beforeAll, expect, test } from "vitest";
import { CIPHER_SUITES, CURVES } from "../../../src/web/web-config/go-names.ts";
import { loadWebConfig } from "../../../src/web/web-config/load.ts";
import { parseGoDuration } from "../../../src/web/web-config/values.ts";
import { createAuthority } from "../../support/certificates.ts";
import { HASH, load, type Files } from "./support.ts";

let files: Files = {};

beforeAll(async () => {
  const authority = await createAuthority();
  const { cert, key } = await authority.issue();
  files = { "server.pem": cert, "server.key": key, "ca.pem": authority.cert };
});

test("reads everything that may be said", async () => {
  const { config, errors, sources } = await load(
    `tls_server_config:
  cert_file: server.pem
  key_file: server.key
  client_ca_file: ca.pem
  client_auth_type: RequireAndVerifyClientCert
  client_allowed_sans: [prometheus.example]
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [${[...CIPHER_SUITES.keys()].join(", ")}]
  curve_preferences: [${[...CURVES.keys()].join(", ")}]
  prefer_server_cipher_suites: yes
http_server_config:
  http2: true
  headers: { X-Frame-Options: sameorigin, X-XSS-Protection: 0 }
basic_auth_users: { monitor: $2y$${HASH}, 7: $2a$${HASH} }
rate_limit: { interval: 1m30s, burst: 20 }
`,
    files,
  );
  expect(errors).toEqual([]);
  expect(config).toMatchObject({
    tls: {
      cert: files["server.pem"],
      clientCa: files["ca.pem"],
      clientAuth: "RequireAndVerifyClientCert",
      clientAllowedSans: ["prometheus.example"],
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
      curves: ["P-256", "P-384", "P-521", "X25519"],
      preferServerCipherSuites: true,
    },
    headers: { "X-Frame-Options": "sameorigin", "X-XSS-Protection": "0" },
    rateLimit: { intervalMs: 90_000, burst: 20 },
    wantsHttp2: true,
  });
  expect(config?.tls?.key.reveal()).toBe(files["server.key"]);
  expect([...(config?.users ?? [])].map(([name, hash]) => [name, hash.reveal()])).toEqual([
    ["7", `$2a$${HASH}`],
    ["monitor", `$2y$${HASH}`],
  ]);
  expect(sources).toEqual(["ca.pem", "server.key", "server.pem", "web.yaml"]);
});

test("takes certificate, key and authorities inline", async () => {
  const inline = {
    cert: files["server.pem"],
    key: files["server.key"],
    client_ca: files["ca.pem"],
    client_auth_type: "VerifyClientCertIfGiven",
  };
  const { config, errors } = await load(JSON.stringify({ tls_server_config: inline }));
  expect(errors).toEqual([]);
  expect(config?.tls).toMatchObject({
    cert: inline.cert,
    clientCa: inline.client_ca,
    clientAuth: "VerifyClientCertIfGiven",
  });
});

test.each([
  "007",
  "0x1F",
  "1.0",
  "1e3",
  "12345678901234567890",
  ".5",
  "+12",
  "-0",
  "0o17",
  ".inf",
  ".NaN",
  "True",
  "FALSE",
  "1_000",
])("takes the user name and the header %s as it is written", async (word) => {
  const { config, errors } = await load(
    `basic_auth_users: { ${word}: $2y$${HASH} }\nhttp_server_config: { headers: { X-XSS-Protection: ${word} } }`,
  );
  expect(errors).toEqual([]);
  expect([...(config?.users.keys() ?? [])]).toEqual([word]);
  expect(config?.headers).toEqual({ "X-XSS-Protection": word });
});

test("takes a header as it is written behind an alias and a merge key", async () => {
  const { config } = await load(
    `http_server_config:
  headers:
    <<: { X-XSS-Protection: &one 1.0 }
    Content-Security-Policy: *one
`,
  );
  expect(config?.headers).toEqual({ "X-XSS-Protection": "1.0", "Content-Security-Policy": "1.0" });
});

test("tells users apart whose names are one number", async () => {
  const { config } = await load(`basic_auth_users: { 1: $2y$${HASH}, 0x1: $2y$${HASH}, 1.0: $2y$${HASH} }`);
  expect([...(config?.users.keys() ?? [])].toSorted()).toEqual(["0x1", "1", "1.0"]);
  const { errors } = await load(`basic_auth_users: { 0x1: $2y$${HASH}, '0x1': $2y$${HASH} }`);
  expect(errors).toEqual(["web.yaml:1:88: this key stands here twice"]);
});

/** In no UTF-8. */
function withRemark(pem = ""): Uint8Array {
  return Buffer.concat([Buffer.from("# Z\xfcrich\n", "latin1"), Buffer.from(pem), Buffer.from([0xff])]);
}

test("takes PEM files with text around the blocks that is not UTF-8", async () => {
  const { config, errors } = await load(
    `tls_server_config:
  cert_file: server.pem
  key_file: server.key
  client_ca_file: ca.pem
  client_auth_type: VerifyClientCertIfGiven
`,
    {
      "server.pem": withRemark(files["server.pem"]),
      "server.key": withRemark(files["server.key"]),
      "ca.pem": withRemark(files["ca.pem"]),
    },
  );
  expect(errors).toEqual([]);
  expect(config?.tls?.cert).toContain(files["server.pem"]);
});

test.each([
  "{}",
  "tls_server_config:\nbasic_auth_users:\nhttp_server_config:\nrate_limit:\n",
  "tls_server_config: { cert_file: '', key_file: '', client_auth_type: '' }",
  "tls_server_config: { min_version: TLS13 }",
])("asks for nothing: %j", async (yaml) => {
  const { config, errors } = await load(yaml);
  expect(errors).toEqual([]);
  expect(config).toMatchObject({ tls: undefined, headers: {}, rateLimit: undefined, wantsHttp2: false });
  expect(config?.users.size).toBe(0);
});

test("reports every error at once, with its position, and shows no secret", async () => {
  const { errors, sources } = await load(
    `tls_server_config:
  cert_file: nowhere.pem
  key_file: server.pem
  client_ca_file: server.key
  client_auth_type: Sometimes
  client_allowed_sans: prometheus
  min_version: TLS1.2
  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]
  curve_preferences: [P256]
  certificate: server.pem
http_server_config:
  http3: true
  headers: { X-Frame-Options: DENY, X-Powered-By: us, X-XSS-Protection: [1], Content-Security-Policy: "a\\u0001b" }
basic_auth_users:
  monitor: hunter2
  cheap: $2y$03$${HASH.slice(3)}
  hunter:hunter2:
rate_limit: { interval: 1 second, burst: -1 }
colour: blue
`,
    files,
  );
  expect(errors).toEqual([
    'web.yaml:2:3: tls_server_config.cert_file: cannot use "nowhere.pem": no such file',
    'web.yaml:3:3: tls_server_config.key_file: cannot use "server.pem": it holds no PEM private key',
    'web.yaml:4:3: tls_server_config.client_ca_file: cannot use "server.key": it holds no PEM certificate',
    'web.yaml:5:3: tls_server_config.client_auth_type: expected one of NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert, got "Sometimes"',
    "web.yaml:6:3: tls_server_config.client_allowed_sans: expected a list, got a text",
    'web.yaml:7:3: tls_server_config.min_version: expected one of TLS10, TLS11, TLS12, TLS13, got "TLS1.2"',
    `web.yaml:8:19: tls_server_config.cipher_suites[0]: expected one of ${[...CIPHER_SUITES.keys()].join(", ")}, got "TLS_RSA_WITH_RC4_128_SHA"`,
    'web.yaml:9:23: tls_server_config.curve_preferences[0]: expected one of CurveP256, CurveP384, CurveP521, X25519, got "P256"',
    "web.yaml:10:3: tls_server_config.certificate: unknown key",
    "web.yaml:12:3: http_server_config.http3: unknown key",
    "web.yaml:13:14: http_server_config.headers.X-Frame-Options: expected one of deny, sameorigin",
    "web.yaml:13:37: http_server_config.headers.X-Powered-By: unknown key",
    "web.yaml:13:55: http_server_config.headers.X-XSS-Protection: expected a text that may stand in an HTTP header, got a list",
    'web.yaml:13:78: http_server_config.headers.Content-Security-Policy: expected a text that may stand in an HTTP header, got "a\\u0001b"',
    "web.yaml:15:3: basic_auth_users.monitor: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$",
    "web.yaml:16:3: basic_auth_users.cheap: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$",
    "web.yaml:17:3: basic_auth_users: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$",
    'web.yaml:18:15: rate_limit.interval: expected a duration such as 100ms, 1s or 1m30s, got "1 second"',
    "web.yaml:18:35: rate_limit.burst: expected a whole number from 0 to 1000000000, got -1",
    "web.yaml:19:1: colour: unknown key",
  ]);
  expect(sources).toEqual(["nowhere.pem", "server.key", "server.pem", "web.yaml"]);
});

test("tells all of it where several things contradict each other and others do not fit", async () => {
  const { errors } = await load(
    `tls_server_config:
  cert_file: ca.pem
  key_file: server.key
  client_ca_file: ca.pem
  client_allowed_sans: [prometheus.example]
  min_version: TLS13
  max_version: TLS12
  curve_preferences: [P256]
rate_limit:
  interval: 1s
  per: client
`,
    files,
  );
  expect(errors).toEqual([
    "web.yaml:3:3: tls_server_config.key_file: the key does not belong to the certificate, or TLS refuses the two",
    "web.yaml:4:3: tls_server_config.client_ca_file: needs a client_auth_type other than NoClientCert",
    "web.yaml:5:3: tls_server_config.client_allowed_sans: needs the client_auth_type RequireAnyClientCert or RequireAndVerifyClientCert",
    "web.yaml:6:3: tls_server_config.min_version: min_version is above max_version",
    'web.yaml:8:23: tls_server_config.curve_preferences[0]: expected one of CurveP256, CurveP384, CurveP521, X25519, got "P256"',
    "web.yaml:10:3: rate_limit.burst: expected at least 1 beside an interval, or no request would ever be answered",
    "web.yaml:11:3: rate_limit.per: unknown key",
  ]);
});

test("concludes nothing from what does not fit", async () => {
  const { errors } = await load(
    `tls_server_config:
  client_auth_type: Sometimes
  client_ca_file: ca.pem
  client_allowed_sans: [prometheus.example]
  min_version: TLS1.3
  max_version: TLS10
  cert_file: 5
  key_file: server.key
rate_limit: { interval: 1s, burst: many }
`,
    files,
  );
  expect(errors.map((line) => line.split(": ", 2).join(": "))).toEqual([
    "web.yaml:2:3: tls_server_config.client_auth_type",
    "web.yaml:5:3: tls_server_config.min_version",
    "web.yaml:7:3: tls_server_config.cert_file",
    "web.yaml:9:29: rate_limit.burst",
  ]);
});

test("asks for certificate and key at once where there is neither", async () => {
  const { errors } = await load("tls_server_config: { client_auth_type: NoClientCert }");
  expect(errors).toEqual([
    "web.yaml:1:22: tls_server_config.client_auth_type: expected one of cert and cert_file beside it",
    "web.yaml:1:22: tls_server_config.client_auth_type: expected one of key and key_file beside it",
  ]);
});

test.each([
  [
    "tls_server_config: { cert_file: server.pem }",
    "1:22: tls_server_config.cert_file: expected one of key and key_file beside it",
  ],
  [
    "tls_server_config: { key_file: server.key }",
    "1:22: tls_server_config.key_file: expected one of cert and cert_file beside it",
  ],
  [
    "tls_server_config: { PAIR, cert: text }",
    "1:67: tls_server_config.cert: expected at most one of cert and cert_file",
  ],
  [
    "tls_server_config: { PAIR, client_ca_file: ca.pem }",
    "1:67: tls_server_config.client_ca_file: needs a client_auth_type other than NoClientCert",
  ],
  [
    "tls_server_config: { PAIR, client_allowed_sans: [a], client_auth_type: VerifyClientCertIfGiven }",
    "1:67: tls_server_config.client_allowed_sans: needs the client_auth_type RequireAnyClientCert or RequireAndVerifyClientCert",
  ],
  [
    "tls_server_config: { PAIR, min_version: TLS13, max_version: TLS12 }",
    "1:67: tls_server_config.min_version: min_version is above max_version",
  ],
  [
    "tls_server_config: { cert_file: ca.pem, key_file: server.key }",
    "1:41: tls_server_config.key_file: the key does not belong to the certificate, or TLS refuses the two",
  ],
  [
    "rate_limit: { interval: 1s }",
    "1:13: rate_limit.burst: expected at least 1 beside an interval, or no request would ever be answered",
  ],
  [
    "rate_limit: { interval: 1 }",
    "1:15: rate_limit.interval: expected a duration such as 100ms, 1s or 1m30s, got 1",
  ],
  [
    "basic_auth_users: { monitor:$2y$10$abc }",
    "1:21: basic_auth_users: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$",
  ],
  [
    "http_server_config: { <<: { http2: false, http3: true } }",
    "1:43: http_server_config.http3: unknown key",
  ],
  ["http_server_config: &a { http2: false }\nrate_limit: { <<: *a }", "1:26: rate_limit.http2: unknown key"],
  ["http_server_config: { '<<': { http2: false } }", "1:23: http_server_config: unknown key"],
  ["{}\n---\n", "2:1: expected one document, got more (---)"],
  ["basic_auth_users: [monitor]", "1:1: basic_auth_users: expected a map, got a list"],
  ["tls_server_config: {", "1:21: wrong indentation"],
  ["", "1:1: the file is empty"],
])("refuses %j", async (yaml, error) => {
  const text = yaml.replace("PAIR", "cert_file: server.pem, key_file: server.key");
  const { errors } = await load(text, files);
  expect(errors).toEqual([`web.yaml:${error}`]);
});

test.each(["cert_file", "key_file", "client_ca_file"])(
  "does not show a key that stands in the place of %s",
  async (name) => {
    const bare = (files["server.key"] ?? "").replaceAll(/-----.*-----|\n/g, "");
    for (const given of [`-----BEGIN PRIVATE KEY-----${bare}`, bare, files["server.key"]]) {
      const { errors } = await load(JSON.stringify({ tls_server_config: { [name]: given } }));
      expect(errors[0]).toMatch(/cannot use this file: /);
      expect(errors.join("\n")).not.toContain(bare.slice(0, 20));
    }
  },
);

test.each([
  ["1.5", "1.5"],
  ["'5'", '"5"'],
  ["1e99", "1e+99"],
  [".inf", "Infinity"],
  ["[5]", "a list"],
])("refuses %s as a number of requests", async (burst, shown) => {
  const { errors } = await load(`rate_limit: { burst: ${burst} }`);
  const message = `expected a whole number from 0 to 1000000000, got ${shown}`;
  expect(errors).toEqual([`web.yaml:1:15: rate_limit.burst: ${message}`]);
});

test("says that there is no file", async () => {
  const loaded = await loadWebConfig("/nowhere/web.yaml");
  expect(loaded).toMatchObject({
    ok: false,
    errors: [{ file: "/nowhere/web.yaml", path: "", message: "no such file" }],
  });
});

test.each([
  ["1s", 1000],
  ["100ms", 100],
  ["1.5h", 5_400_000],
  ["1m30s", 90_000],
  ["250us", 0.25],
  ["0", 0],
  ["0s", 0],
  ["", undefined],
  ["1", undefined],
  ["-1s", undefined],
  ["1d", undefined],
  ["1s ", undefined],
])("reads the duration %j", (text, durationMs) => {
  expect(parseGoDuration(text)).toBe(durationMs);
});
