import { beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { createAuthority } from "../../support/certificates.ts";
import { HASH, loadWeb } from "./support.ts";

/*
 * What the example files of Prometheus's exporter-toolkit set (https://github.com/prometheus/exporter-toolkit, web/testdata), by the name of
 * the file. Certificates, keys and hashes are made here; other values are those of the files.
 */

let files: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const authority = await createAuthority();
  const { cert, key } = await authority.issue();
  files = {
    "server.crt": cert,
    "server.key": key,
    "tls-ca-chain.pem": authority.cert,
    "tls-ca-chain-invalid.pem": "no certificate",
    "client_selfsigned.pem": authority.cert,
    "client2_selfsigned.pem": authority.cert,
  };
});

type Settings = Readonly<Record<string, unknown>>;

const PAIR = { cert_file: "server.crt", key_file: "server.key" };
const tls = (more: Settings): Settings => ({ tls_server_config: { ...PAIR, ...more } });
const ifGiven = (more: Settings = {}): Settings =>
  tls({ client_auth_type: "VerifyClientCertIfGiven", ...more });
const verified = (more: Settings): Settings =>
  tls({ client_auth_type: "RequireAndVerifyClientCert", ...more });
const withHeaders = (headers: Settings): Settings => ({ http_server_config: { headers } });
const users = { alice: `$2y$${HASH}`, bob: `$2y$18${HASH.slice(2)}` };

const [AES_128, AES_256] = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"];
const ALL_CIPHERS = [
  ...["ECDHE_ECDSA", "ECDHE_RSA"].flatMap((exchange) =>
    [
      "AES_128_GCM_SHA256",
      "AES_256_GCM_SHA384",
      "CHACHA20_POLY1305_SHA256",
      "AES_128_CBC_SHA",
      "AES_256_CBC_SHA",
    ].map((cipher) => `TLS_${exchange}_WITH_${cipher}`),
  ),
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  ...["AES_128_CBC_SHA", "AES_256_CBC_SHA", "AES_128_GCM_SHA256", "AES_256_GCM_SHA384"].map(
    (cipher) => `TLS_RSA_WITH_${cipher}`,
  ),
];
const ALL_CURVES = ["CurveP256", "CurveP384", "CurveP521", "X25519", "X25519MLKEM768"];

const NO_AUTHORITY =
  "tls_server_config.client_auth_type: without client_ca_file, clients that send a certificate are refused";

test.each<readonly [string, () => Settings, readonly string[]]>([
  [
    "tls_config_noAuth.requireandverifyclientcert.good.yml",
    () => verified({ client_ca_file: "client_selfsigned.pem" }),
    [],
  ],
  [
    "tls_config_noAuth.requireanyclientcert.good.yml",
    () => tls({ client_auth_type: "RequireAnyClientCert", client_ca_file: "tls-ca-chain.pem" }),
    [],
  ],
  [
    "tls_config_noAuth.requireanyclientcertkeyinline.good.yml",
    () => {
      const key = files["server.key"];
      return {
        tls_server_config: { cert_file: "server.crt", key, client_auth_type: "RequireAnyClientCert" },
      };
    },
    [],
  ],
  [
    "web_config_auth_client_san.good.yaml",
    () =>
      verified({ client_ca_file: "client2_selfsigned.pem", client_allowed_sans: ["one", "test3", "two"] }),
    [],
  ],
  // It is valid: the certificate of the toolkit's client lacks this name.
  [
    "web_config_auth_client_san.bad.yaml",
    () => verified({ client_ca_file: "client2_selfsigned.pem", client_allowed_sans: ["bad"] }),
    [],
  ],
  [
    "web_config_headers.good.yml",
    () =>
      withHeaders({
        "X-Frame-Options": "deny",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "X-Content-Type-Options": "nosniff",
        "X-XSS-Protection": 1,
        "Content-Security-Policy": "default-src 'self' *.test.example.net",
      }),
    [],
  ],
  ["web_config_noAuth.good.yml", () => ifGiven(), [NO_AUTHORITY]],
  ["web_config_noAuth_allCiphers.good.yml", () => ifGiven({ cipher_suites: ALL_CIPHERS }), [NO_AUTHORITY]],
  ["web_config_noAuth_allCurves.good.yml", () => ifGiven({ curve_preferences: ALL_CURVES }), [NO_AUTHORITY]],
  [
    "web_config_noAuth_noHTTP2.good.yml",
    () => ({
      ...ifGiven({ cipher_suites: [AES_256], max_version: "TLS12" }),
      http_server_config: { http2: false },
    }),
    [NO_AUTHORITY],
  ],
  [
    "web_config_noAuth_someCiphers.good.yml",
    () => ifGiven({ cipher_suites: [AES_128, AES_256], min_version: "TLS12", max_version: "TLS12" }),
    [NO_AUTHORITY],
  ],
  [
    "web_config_noAuth_someCiphers_noOrder.good.yml",
    () =>
      ifGiven({
        cipher_suites: [AES_256, AES_128],
        prefer_server_cipher_suites: false,
        min_version: "TLS12",
        max_version: "TLS12",
      }),
    [NO_AUTHORITY],
  ],
  [
    "web_config_noAuth_someCurves.good.yml",
    () => ifGiven({ min_version: "TLS13", curve_preferences: ["CurveP521"] }),
    [NO_AUTHORITY],
  ],
  [
    "web_config_noAuth_tlsInline.good.yml",
    () => {
      const { "server.crt": cert, "server.key": key } = files;
      return { tls_server_config: { cert, key, client_auth_type: "VerifyClientCertIfGiven" } };
    },
    [NO_AUTHORITY],
  ],
  ["web_config_users.good.yml", () => ({ ...tls({}), basic_auth_users: users }), []],
  ["web_config_users_noTLS.good.yml", () => ({ basic_auth_users: users }), []],
])("%s loads", async (_, settings, warnings) => {
  const loaded = await loadWeb(stringify(settings()), files);
  // An older OpenSSL lacks a curve, and says so.
  const others = loaded.warnings?.filter((each) => !each.includes("has no X25519MLKEM768"));
  expect([loaded.errors, others]).toEqual([[], warnings]);
});

const HTTP2 =
  "HTTP/2 needs TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: add one of them, or set http2: false";
const CLIENT_AUTH =
  "expected NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert";
const VERSIONS = "expected TLS10, TLS11, TLS12 or TLS13";
const NO_KEY_FILE = "3:3: tls_server_config.key_file: cannot use this file in FOLDER: no such file";
const NO_PATH = "expected the path of a file";
const NO_POLICY = "tls_server_config.client_ca_file: needs a client_auth_type other than NoClientCert";
const NAMES_POLICY =
  "tls_server_config.client_allowed_sans: needs RequireAnyClientCert or RequireAndVerifyClientCert as client_auth_type";

const pair = (cert: Settings, key: Settings): Settings => ({ tls_server_config: { ...cert, ...key } });
const [CERT, KEY] = [{ cert_file: "server.crt" }, { key_file: "server.key" }];

test.each<readonly [string, Settings, readonly string[]]>([
  // The toolkit loads this one, and trusts every public authority.
  [
    "web_config_noAuth.good.blocking.yml",
    verified({}),
    ["4:3: tls_server_config.client_auth_type: needs client_ca_file, the authorities of client certificates"],
  ],
  [
    "web_config_auth_clientCAsText_nocerts.bad.yml",
    verified({ client_ca: "this is not a PEM encoded certificate" }),
    ["5:3: tls_server_config.client_ca: expected valid certificates in PEM"],
  ],
  ["web_config_auth_clientCAs_invalid.bad.yml", tls({ client_ca_file: "somefile" }), [`4:3: ${NO_POLICY}`]],
  [
    "web_config_auth_clientCAs_nocerts.bad.yml",
    verified({ client_ca_file: "tls-ca-chain-invalid.pem" }),
    [
      '5:3: tls_server_config.client_ca_file: cannot use "tls-ca-chain-invalid.pem": expected valid certificates in PEM',
    ],
  ],
  [
    "web_config_auth_client_san_no_client_auth.bad.yaml",
    tls({ client_allowed_sans: ["one"] }),
    [`4:3: ${NAMES_POLICY}`],
  ],
  [
    "web_config_auth_client_san_optional_cert.bad.yaml",
    ifGiven({ client_ca_file: "client2_selfsigned.pem", client_allowed_sans: ["one"] }),
    [`6:3: ${NAMES_POLICY}`],
  ],
  [
    "web_config_auth_user_list_invalid.bad.yml",
    { ...tls({}), basic_auth_users: { john: "doe" } },
    [
      "5:3: basic_auth_users[...]: expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$: `htpasswd -nBC 12 NAME` of the package apache2-utils makes one",
    ],
  ],
  [
    "web_config_headers_content_type_options.bad.yml",
    withHeaders({ "X-Content-Type-Options": "sniff" }),
    ["3:5: http_server_config.headers.X-Content-Type-Options: expected nosniff"],
  ],
  [
    "web_config_headers_extra_header.bad.yml",
    withHeaders({ "Content-Type": "foo" }),
    [
      "3:5: http_server_config.headers: unknown key; expected Content-Security-Policy, Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options or X-XSS-Protection",
    ],
  ],
  [
    "web_config_headers_frame_options.bad.yml",
    withHeaders({ "X-Frame-Options": "foo" }),
    ["3:5: http_server_config.headers.X-Frame-Options: expected deny or sameorigin"],
  ],
  [
    "web_config_junk_key.yml",
    { tls_server_config: { cert_filse: "server.crt" } },
    [
      "1:1: tls_server_config.cert_file: required key is missing",
      "1:1: tls_server_config.key_file: required key is missing",
      '2:3: tls_server_config: unknown key "cert_filse"; did you mean "cert_file"?',
    ],
  ],
  ["web_config_noAuth.bad.yml", tls({ client_ca_file: "/dev/null" }), [`4:3: ${NO_POLICY}`]],
  [
    "web_config_noAuth_certPath_empty.bad.yml",
    pair({ cert_file: "" }, KEY),
    [`2:3: tls_server_config.cert_file: ${NO_PATH}`],
  ],
  [
    "web_config_noAuth_certPath_invalid.bad.yml",
    pair({ cert_file: "somefile" }, KEY),
    ['2:3: tls_server_config.cert_file: cannot use "somefile": no such file'],
  ],
  [
    "web_config_noAuth_certPath_keyPath_empty.bad.yml",
    tls({ cert_file: "", key_file: "", client_auth_type: "x" }),
    [
      `2:3: tls_server_config.cert_file: ${NO_PATH}`,
      `3:3: tls_server_config.key_file: ${NO_PATH}`,
      `4:3: tls_server_config.client_auth_type: ${CLIENT_AUTH}`,
    ],
  ],
  [
    "web_config_noAuth_certPath_keyPath_invalid.bad.yml",
    pair({ cert_file: "somefile" }, { key_file: "somefile" }),
    ['2:3: tls_server_config.cert_file: cannot use "somefile": no such file', NO_KEY_FILE],
  ],
  [
    "web_config_noAuth_cert_empty.bad.yml",
    pair({ cert: "" }, KEY),
    ["2:3: tls_server_config.cert: expected valid certificates in PEM"],
  ],
  [
    "web_config_noAuth_inventedCiphers.bad.yml",
    ifGiven({ cipher_suites: ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA2048"] }),
    [
      "6:7: tls_server_config.cipher_suites[0]: expected the name of a cipher suite of Go, got TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA2048",
    ],
  ],
  [
    "web_config_noAuth_inventedCurves.bad.yml",
    ifGiven({ curve_preferences: ["CurveP257"] }),
    ["6:7: tls_server_config.curve_preferences[0]: expected the name of a curve of Go, got CurveP257"],
  ],
  [
    "web_config_noAuth_keyPath_empty.bad.yml",
    pair(CERT, { key_file: "" }),
    [`3:3: tls_server_config.key_file: ${NO_PATH}`],
  ],
  [
    "web_config_noAuth_keyPath_invalid.bad.yml",
    pair({ cert_file: "server.cert" }, { key_file: "somefile" }),
    ['2:3: tls_server_config.cert_file: cannot use "server.cert": no such file', NO_KEY_FILE],
  ],
  [
    "web_config_noAuth_key_empty.bad.yml",
    pair(CERT, { key: "" }),
    ["3:3: tls_server_config.key: expected a private key in PEM without a passphrase"],
  ],
  [
    "web_config_noAuth_noHTTP2Cipher.bad.yml",
    ifGiven({ cipher_suites: ["TLS_RSA_WITH_AES_128_CBC_SHA"], max_version: "TLS12" }),
    [`5:3: tls_server_config.cipher_suites: ${HTTP2}`],
  ],
  [
    "web_config_noAuth_wrongTLSVersion.bad.yml",
    ifGiven({ min_version: "TLS111" }),
    [`5:3: tls_server_config.min_version: ${VERSIONS}`],
  ],
  [
    "web_config_rate_limiter_nonblocking.yaml",
    { rate_limit: { interval: 0, burst: 0 } },
    ["1:1: rate_limit: not supported by this exporter"],
  ],
  [
    "web_config_rate_limiter_one_second.yaml",
    { rate_limit: { interval: "1s", burst: 0 } },
    ["1:1: rate_limit: not supported by this exporter"],
  ],
])("%s is refused, with the place", async (_, settings, errors) => {
  const loaded = await loadWeb(stringify(settings), files);
  // The name of a file that should have a key may be the key itself: only its folder is shown.
  const shown = loaded.errors.map((each) => each.replace(/in ".*": no such/, "in FOLDER: no such"));
  expect(shown).toEqual(errors.map((each) => `web.yaml:${each}`));
});
