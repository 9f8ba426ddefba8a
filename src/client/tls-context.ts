import { createSecureContext, type SecureContext } from "node:tls";
import type { TlsClientConfig } from "../config/config.ts";

/** Gives the secure context of a TLS configuration. */
export type SecureContexts = (tls: TlsClientConfig) => SecureContext;

/**
 * One secure context for each distinct TLS configuration: parsing a long list of authorities blocks for tens of
 * milliseconds, and a fleet mostly shares one.
 */
export function createSecureContexts(): SecureContexts {
  const contexts = new Map<string, SecureContext>();
  return (tls) => {
    const key = JSON.stringify([tls.ca, tls.cert, tls.key?.reveal(), tls.minVersion]);
    const known = contexts.get(key) ?? makeContext(tls);
    contexts.set(key, known);
    return known;
  };
}

function makeContext({ ca, cert, key, minVersion }: TlsClientConfig): SecureContext {
  const isLegacy = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  return createSecureContext({
    // As in Go and curl: whatever stands in the file is trusted, root or not.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: key.reveal() }),
    ...(minVersion === undefined ? {} : { minVersion }),
    // OpenSSL 3 speaks TLS below 1.2 at its lowest security level alone.
    ...(isLegacy ? { ciphers: "DEFAULT@SECLEVEL=0" } : {}),
  });
}
