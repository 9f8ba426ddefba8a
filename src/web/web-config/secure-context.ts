import { DEFAULT_CIPHERS, type SecureContextOptions } from "node:tls";
import { TLS13_SUITES } from "./go-names.ts";
import type { TlsSettings } from "./web-config.ts";

/** The settings as the runtime's TLS takes them. */
export function toSecureContextOptions(tls: TlsSettings): SecureContextOptions {
  const { cert, key, clientCa, minVersion, maxVersion, curves } = tls;
  return {
    cert,
    key: key.reveal(),
    minVersion,
    maxVersion,
    ciphers: ciphersOf(tls),
    honorCipherOrder: tls.preferServerCipherSuites,
    // As in Go: whatever stands in the file is trusted, root or not.
    ...(clientCa === undefined ? {} : { ca: clientCa, allowPartialTrustChain: true }),
    // Sessions are resumed only in a context that is named.
    sessionIdContext: "appliance-exporter",
    ...(curves === undefined ? {} : { ecdhCurve: curves.join(":") }),
  };
}

function ciphersOf({ cipherSuites, minVersion }: TlsSettings): string {
  const older = cipherSuites?.filter((name) => !TLS13_SUITES.includes(name));
  const chosen = older === undefined ? DEFAULT_CIPHERS : [...TLS13_SUITES, ...older].join(":");
  // OpenSSL speaks TLS 1.0 and 1.1 at no other level.
  return minVersion === "TLSv1" || minVersion === "TLSv1.1" ? `${chosen}:@SECLEVEL=0` : chosen;
}
