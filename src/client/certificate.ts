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
 * Why the peer of a finished handshake is not trusted, as text for the log; `undefined` if it is trusted.
 *
 * A pinned or known certificate is trusted regardless of its issuer, name and age; `insecure_skip_verify` does not add others.
 */
export function peerProblem(
  socket: TLSSocket,
  certificate: PresentedCertificate | undefined,
  tls: TlsClientConfig,
): string | undefined {
  if (isPinned(tls)) {
    const isTrusted = certificate !== undefined && tls.certificateSha256.includes(certificate.sha256);
    return isTrusted ? undefined : describeStranger(certificate?.sha256 ?? "(none presented)", tls);
  }
  if (tls.insecureSkipVerify || socket.authorized) return undefined;
  return `the certificate is not trusted: ${String(socket.authorizationError)}`;
}

/** Whether the certificate has expired at `wallMs` (Unix time). */
export function hasExpired({ notAfterSeconds }: PresentedCertificate, wallMs: number): boolean {
  return notAfterSeconds !== undefined && notAfterSeconds * 1000 < wallMs;
}

/** Whether only certificates with certain fingerprints are trusted. */
function isPinned({ certificateSha256, knownCertificates }: TlsClientConfig): boolean {
  return certificateSha256.length > 0 || knownCertificates !== undefined;
}

/** `sha256`: of a certificate that is not among the trusted ones. */
function describeStranger(sha256: string, { certificateSha256, knownCertificates }: TlsClientConfig): string {
  const expected = certificateSha256.join(" or ");
  if (knownCertificates === undefined)
    return `the certificate has the SHA-256 ${sha256}, certificate_sha256 is ${expected}`;
  const { appliance } = knownCertificates;
  const name = /^[\w.-]+$/.test(appliance) ? appliance : `'${appliance.replaceAll("'", String.raw`'\''`)}'`;
  const command = `appliance-exporter trust ${name}`;
  return expected === ""
    ? `the certificate is not known yet, SHA-256 ${sha256}: run ${command}`
    : `the certificate has changed to SHA-256 ${sha256} from ${expected}: if that is expected, run ${command}`;
}

function oneLine(distinguishedName: string): string {
  return distinguishedName.split("\n").join(", ");
}
