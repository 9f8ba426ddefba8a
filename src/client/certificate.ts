import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { TlsClientConfig } from "../config/config.ts";

/** The certificate that an appliance presented last, trusted or not. */
export interface PresentedCertificate {
  /** Unix time in seconds; `undefined` if unreadable. */
  readonly notAfterSeconds: number | undefined;
  readonly subject: string;
  readonly issuer: string;
  /** Lower-case hex without colons. */
  readonly sha256: string;
}

export function describeCertificate(
  certificate: X509Certificate | undefined,
): PresentedCertificate | undefined {
  if (certificate === undefined) return undefined;
  const notAfterMs = Date.parse(certificate.validTo);
  return {
    notAfterSeconds: Number.isNaN(notAfterMs) ? undefined : notAfterMs / 1000,
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    sha256: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
  };
}

/**
 * Why the peer of a finished handshake is not trusted at `wallMs` (Unix time), as text for the log; `undefined` if it is
 * trusted.
 *
 * A pinned certificate is trusted regardless of its issuer, name and age. `insecure_skip_verify` does not disable pins.
 */
export function peerProblem(
  socket: TLSSocket,
  certificate: PresentedCertificate | undefined,
  tls: TlsClientConfig,
  wallMs: number,
): string | undefined {
  const pins = tls.certificateSha256;
  if (pins.length > 0 && (certificate === undefined || !pins.includes(certificate.sha256))) {
    return `the certificate's SHA-256 ${certificate?.sha256 ?? "(none presented)"} is not among certificate_sha256`;
  }
  if (tls.insecureSkipVerify || pins.length > 0) return undefined;
  if (!socket.authorized) return `the certificate is not trusted: ${String(socket.authorizationError)}`;
  // TLS does not verify the certificate of a resumed session again; it may have expired since.
  const notAfterSeconds = certificate?.notAfterSeconds;
  const hasExpired = notAfterSeconds !== undefined && notAfterSeconds * 1000 < wallMs;
  return hasExpired ? "the certificate has expired" : undefined;
}

function oneLine(distinguishedName: string): string {
  return distinguishedName.split("\n").join(", ");
}
