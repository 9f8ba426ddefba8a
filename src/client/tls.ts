import { createSecureContext, type SecureContext } from "node:tls";
import type { TlsClientConfig } from "../config/config.ts";

/** Returns the secure context for a TLS configuration. */
export type SecureContexts = (tls: TlsClientConfig) => SecureContext;

/** More than a fleet needs in practice; the oldest are dropped, so that reloads do not leak. */
const MAX_CONTEXTS = 64;

/**
 * One secure context for each distinct TLS configuration. Parsing a long list of authorities blocks for tens of
 * milliseconds, and a fleet usually shares one.
 */
export function createSecureContexts(): SecureContexts {
  const contexts = new Map<string, SecureContext>();
  return (tls) => {
    const key = JSON.stringify([tls.ca, tls.cert, tls.key?.reveal(), tls.minVersion]);
    const known = contexts.get(key) ?? makeContext(tls);
    contexts.set(key, known);
    const [oldest] = contexts.keys();
    if (contexts.size > MAX_CONTEXTS && oldest !== undefined) contexts.delete(oldest);
    return known;
  };
}

function makeContext({ ca, cert, key, minVersion }: TlsClientConfig): SecureContext {
  const isLegacy = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  return createSecureContext({
    // As in Go and curl: every certificate in the file is trusted, root or not.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: key.reveal() }),
    ...(minVersion === undefined ? {} : { minVersion }),
    // OpenSSL 3 allows TLS below 1.2 only at its lowest security level.
    ...(isLegacy ? { ciphers: "DEFAULT@SECLEVEL=0" } : {}),
  });
}
