import type { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { TlsClientConfig } from "../config/config.ts";
import { once } from "../../support/kept.ts";
import { authoritiesIn, type Authorities, type Signer } from "./chain.ts";

/** The certificate that an appliance presented last, trusted or not. */
export interface PresentedCertificate {
  /** The end of validity as Unix time in seconds; `undefined` if unreadable. */
  readonly notAfterSeconds: number | undefined;
  /** The subject; empty if the certificate has none. @see RFC 5280, 4.1.2.6 */
  readonly subject: string;
  readonly issuer: string;
  /** The fingerprint in OpenSSL's format: upper-case digits with colons. */
  readonly sha256: string;
  /** The signer that ends first, if it ends before this certificate, which is not trusted from then on. A pinned certificate has none. */
  readonly endingSigner?: Signer;
}

export function describeCertificate(
  certificate: X509Certificate | undefined,
  endingSigner?: Signer,
): PresentedCertificate | undefined {
  if (certificate === undefined) return undefined;
  const notAfterMs = Date.parse(certificate.validTo);
  // Node.js leaves out empty names, although its types say otherwise.
  const { subject, issuer }: Partial<Pick<X509Certificate, "subject" | "issuer">> = certificate;
  return {
    notAfterSeconds: Number.isNaN(notAfterMs) ? undefined : notAfterMs / 1000,
    subject: (subject ?? "").replaceAll("\n", ", "),
    issuer: (issuer ?? "").replaceAll("\n", ", "),
    sha256: certificate.fingerprint256,
    ...(endingSigner && { endingSigner }),
  };
}

/**
 * Returns why the peer of a finished handshake is not trusted, for the log; `undefined` if the peer is trusted. A pinned or known
 * certificate is trusted regardless of its issuer, name and age; `insecure_skip_verify` does not add others.
 */
export function peerProblem(
  socket: TLSSocket,
  certificate: PresentedCertificate | undefined,
  tls: TlsClientConfig,
  wallMs: number,
): string | undefined {
  if (isPinned(tls)) {
    const isTrusted = certificate !== undefined && tls.certificateSha256.includes(certificate.sha256);
    return isTrusted ? undefined : describeStranger(certificate?.sha256 ?? "(none presented)", tls);
  }
  if (tls.insecureSkipVerify || socket.authorized) return undefined;
  const error = String(socket.authorizationError);
  const expired = error === EXPIRED && certificate !== undefined ? describeExpired(certificate, wallMs) : "";
  return `the certificate is not trusted: ${error}${expired}`;
}

const EXPIRED = "CERT_HAS_EXPIRED";

function describeExpired(certificate: PresentedCertificate, wallMs: number): string {
  const { endingSigner: signer } = certificate;
  if (signer === undefined) return "";
  const words = `: the ${signer.role} ${signer.subject} has expired`;
  return hasExpired(certificate, wallMs) ? words : `${words}, not the certificate of the appliance`;
}

/** Whether only listed certificates are trusted, whoever signed them. */
function isPinned({ certificateSha256, knownCertificates }: TlsClientConfig): boolean {
  return certificateSha256.length > 0 || knownCertificates !== undefined;
}

/** Whether an authority has to have signed a certificate. */
export function needsAuthority(tls: TlsClientConfig): boolean {
  return !isPinned(tls) && !tls.insecureSkipVerify;
}

export function hasExpired({ notAfterSeconds }: PresentedCertificate, wallMs: number): boolean {
  return notAfterSeconds !== undefined && notAfterSeconds * 1000 < wallMs;
}

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

/** What connections with one TLS configuration share. */
export interface TlsContext {
  readonly secure: SecureContext;
  /** Parses the authorities at the first call. */
  readonly authorities: () => Authorities;
}

/** The number of contexts that are kept; no fleet needs more. The oldest contexts are dropped, so that reloads do not leak. */
const MAX_CONTEXTS = 64;

/**
 * Returns one context for each distinct TLS configuration. Parsing a long list of authorities blocks for tens of milliseconds, and a
 * fleet usually shares one.
 */
export function createTlsContexts(): (tls: TlsClientConfig) => TlsContext {
  const contexts = new Map<string, TlsContext>();
  return (tls) => {
    const key = JSON.stringify([tls.ca, tls.cert, tls.key?.reveal(), tls.minVersion]);
    const known = contexts.get(key) ?? makeContext(tls);
    contexts.set(key, known);
    const [oldest] = contexts.keys();
    if (contexts.size > MAX_CONTEXTS && oldest !== undefined) contexts.delete(oldest);
    return known;
  };
}

function makeContext(tls: TlsClientConfig): TlsContext {
  const authorities = once(({ ca }: TlsClientConfig) => authoritiesIn(ca));
  return { secure: makeSecureContext(tls), authorities: () => authorities(tls) };
}

function makeSecureContext({ ca, cert, key, minVersion }: TlsClientConfig): SecureContext {
  const isLegacy = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  return createSecureContext({
    // Every certificate in the file is trusted, root or not, as in Go and curl.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: key.reveal() }),
    ...(minVersion === undefined ? {} : { minVersion }),
    // OpenSSL 3 allows TLS below 1.2 only at its lowest security level.
    ...(isLegacy ? { ciphers: "DEFAULT@SECLEVEL=0" } : {}),
  });
}
