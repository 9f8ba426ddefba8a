import type { SecureVersion } from "node:tls";

/** Prometheus's words for TLS versions, and Node's; in ascending order. */
export const TLS_VERSIONS = {
  TLS10: "TLSv1",
  TLS11: "TLSv1.1",
  TLS12: "TLSv1.2",
  TLS13: "TLSv1.3",
} as const satisfies Readonly<Record<string, SecureVersion>>;
