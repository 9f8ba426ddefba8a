import { DEFAULT_CIPHERS, type SecureContextOptions } from "node:tls";
import { constants } from "node:crypto";
import type { TlsClientConfig } from "./config.ts";

/**
 * Returns how strong the TLS of an appliance has to be. The security level is set since its default differs between versions of Node.js.
 * Level 2 refuses keys of less than 112 bits of security, such as RSA and Diffie-Hellman of 1024 bits; level 0 allows anything, and is the
 * only one at which OpenSSL supports TLS below 1.2.
 */
export function tlsStrength({
  minVersion,
  insecureLegacyTls = false,
}: Pick<TlsClientConfig, "minVersion" | "insecureLegacyTls">): SecureContextOptions {
  const isLegacy = insecureLegacyTls || minVersion === "TLSv1" || minVersion === "TLSv1.1";
  if (!isLegacy) return { ...(minVersion && { minVersion }), ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=2` };
  return {
    minVersion: minVersion ?? "TLSv1",
    ciphers: "DEFAULT@SECLEVEL=0",
    // A server without secure renegotiation (RFC 5746) is accepted.
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
  };
}
