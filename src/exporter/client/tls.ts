import type { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { TlsClientConfig } from "../config/config.ts";
import { tlsStrength } from "../config/tls-strength.ts";
import { once } from "../../support/kept.ts";
import type { FailureCode } from "../api/advice.ts";
import type { Failure } from "../api/failure.ts";
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

/** Why a peer is not trusted; the message is for the log. */
type PeerProblem = Pick<Failure, "message" | "code">;

/**
 * Returns why the peer of a finished handshake is not trusted; `undefined` if the peer is trusted. A pinned or known
 * certificate is trusted regardless of its issuer, name and age; `insecure_skip_verify` does not add others.
 */
export function peerProblem(
  socket: TLSSocket,
  certificate: PresentedCertificate | undefined,
  tls: TlsClientConfig,
  lacksIssuer: boolean | undefined,
  wallMs: number,
): PeerProblem | undefined {
  if (isPinned(tls)) {
    const isTrusted = certificate !== undefined && tls.certificateSha256.includes(certificate.sha256);
    const stranger = certificate?.sha256 ?? "(none presented)";
    return isTrusted ? undefined : { message: describeStranger(stranger, tls), code: "not_pinned" };
  }
  if (tls.insecureSkipVerify || socket.authorized) return undefined;
  const error = verifyErrorOf(socket);
  const signer = certificate?.endingSigner;
  const isOwn = certificate !== undefined && hasExpired(certificate, wallMs);
  if (error === EXPIRED && (signer !== undefined || !isOwn)) {
    // OpenSSL may have followed other intermediates than those that last longest.
    const which = signer === undefined ? "a certificate behind it" : `the ${signer.role} ${signer.subject}`;
    const notOwn = isOwn ? "" : ", not the certificate of the appliance";
    return { message: `${NOT_TRUSTED}: ${error}: ${which} has expired${notOwn}`, code: "expired_signer" };
  }
  const found = CODES.find(([errors]) => errors.test(error))?.[1];
  const code = found === "unknown_authority" && lacksIssuer === true ? "missing_issuer" : found;
  return { message: `${NOT_TRUSTED}: ${error}`, ...(code && { code }) };
}

const NOT_TRUSTED = "the certificate is not trusted";
const EXPIRED = "CERT_HAS_EXPIRED";

/** What Node.js and OpenSSL say of a certificate that is not trusted. */
const CODES: readonly (readonly [RegExp, FailureCode])[] = [
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, "self_signed"],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/,
    "unknown_authority",
  ],
  [/^CERT_HAS_EXPIRED$/, "expired"],
  [/^CERT_NOT_YET_VALID$/, "not_yet_valid"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "other_name"],
  [/^INVALID_PURPOSE$/, "wrong_purpose"],
  [/too (weak|short|small)/, "legacy_tls"],
];

/** Returns the code of Node.js, or OpenSSL's text where Node.js has no code. */
function verifyErrorOf(socket: TLSSocket): string {
  const code = String(socket.authorizationError);
  if (code !== "UNSPECIFIED") return code;
  // Node.js keeps the text to itself.
  const handle: unknown = Reflect.get(socket, "_handle");
  const error = isVerifier(handle) ? handle.verifyError() : undefined;
  return error instanceof Error ? error.message : code;
}

function isVerifier(handle: unknown): handle is { verifyError(): unknown } {
  return typeof handle === "object" && handle !== null && "verifyError" in handle;
}

/** Whether only listed certificates are trusted, whoever signed them. */
function isPinned({ certificateSha256, knownCertificates }: TlsClientConfig): boolean {
  return (
    certificateSha256.length > 0 || (knownCertificates !== undefined && knownCertificates.isOptional !== true)
  );
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
  /** They take tens of milliseconds and two megabytes. */
  let ofNode: Authorities | undefined;
  const authoritiesOf = once(({ ca }: TlsClientConfig) =>
    ca === undefined ? (ofNode ??= authoritiesIn(undefined)) : authoritiesIn(ca),
  );
  return (tls) => {
    const key = JSON.stringify([tls.ca, tls.cert, tls.key?.reveal(), tlsStrength(tls)]);
    const known = contexts.get(key) ?? {
      secure: makeSecureContext(tls),
      authorities: () => authoritiesOf(tls),
    };
    contexts.set(key, known);
    const [oldest] = contexts.keys();
    if (contexts.size > MAX_CONTEXTS && oldest !== undefined) contexts.delete(oldest);
    return known;
  };
}

function makeSecureContext(tls: TlsClientConfig): SecureContext {
  const { ca, cert, key } = tls;
  return createSecureContext({
    // Every certificate in the file is trusted, root or not, as in Go and curl.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: key.reveal() }),
    ...tlsStrength(tls),
  });
}
