import type { SecureVersion } from "node:tls";
import { TLS_VERSIONS as VERSIONS } from "../../config/tls-versions.ts";

/** What a server does about the certificates of its clients. @see Go, crypto/tls, ClientAuthType */
export type ClientAuth =
  | "NoClientCert"
  | "RequestClientCert"
  | "RequireAnyClientCert"
  | "VerifyClientCertIfGiven"
  | "RequireAndVerifyClientCert";

export const CLIENT_AUTH: ReadonlyMap<string, ClientAuth> = new Map([
  ["NoClientCert", "NoClientCert"],
  ["RequestClientCert", "RequestClientCert"],
  ["RequireAnyClientCert", "RequireAnyClientCert"],
  // An older spelling, which Prometheus's exporters still take.
  ["RequireClientCert", "RequireAnyClientCert"],
  ["VerifyClientCertIfGiven", "VerifyClientCertIfGiven"],
  ["RequireAndVerifyClientCert", "RequireAndVerifyClientCert"],
]);

/** In ascending order. */
export const TLS_VERSIONS: ReadonlyMap<string, SecureVersion> = new Map(Object.entries(VERSIONS));

export const CURVES: ReadonlyMap<string, string> = new Map([
  ["CurveP256", "P-256"],
  ["CurveP384", "P-384"],
  ["CurveP521", "P-521"],
  ["X25519", "X25519"],
]);

/** Always on where TLS 1.3 is: their names choose nothing. */
export const TLS13_SUITES: readonly string[] = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
];

const OLDER_SUITES = [
  ["TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"],
  ["TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"],
  ["TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"],
  ["TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"],
  ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
] as const;

/** Go's names of the suites that it does not call insecure, and OpenSSL's. */
export const CIPHER_SUITES: ReadonlyMap<string, string> = new Map<string, string>([
  ...TLS13_SUITES.map((name) => [name, name] as const),
  ...OLDER_SUITES,
]);
