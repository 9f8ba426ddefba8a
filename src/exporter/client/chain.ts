import { X509Certificate } from "node:crypto";
import { rootCertificates, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import { printable } from "../../support/text.ts";

/** A certificate that signed another one. */
export interface Signer {
  /** An `authority` is trusted by itself; an `intermediate` is trusted because another certificate signed it. */
  readonly role: "intermediate" | "authority";
  /** The subject, shortened, without invisible characters. */
  readonly subject: string;
  /** The end of validity as Unix time in seconds. */
  readonly notAfterSeconds: number;
}

/** Authorities by their subject. */
export type Authorities = ReadonlyMap<string, readonly X509Certificate[]>;

/** Returns the authorities in a PEM text, or else those of Node.js. */
export function authoritiesIn(pem: string | undefined): Authorities {
  const blocks =
    pem === undefined
      ? rootCertificates
      : (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []);
  const bySubject = new Map<string, X509Certificate[]>();
  for (const block of blocks) {
    const certificate = new X509Certificate(block);
    bySubject.set(nameOf(certificate), [...(bySubject.get(nameOf(certificate)) ?? []), certificate]);
  }
  return bySubject;
}

/** OpenSSL follows no longer chain. */
const MAX_CHAIN = 100;

/** What is known of the certificates behind that of a peer. */
export interface Chain {
  /** The one that ends first, if it ends before the certificate of the peer. */
  readonly endingSigner: Signer | undefined;
  /** Whether the peer has not sent the certificate of its issuer, which is no authority either. */
  readonly lacksIssuer: boolean;
}

/**
 * Returns what is known of the chain that a peer has presented. As in OpenSSL, an authority that signed a certificate comes before an intermediate that the peer has sent: the peer may
 * send a cross-signed one that has expired, which nobody needs.
 */
export function presentedChain(socket: TLSSocket, authorities: Authorities): Chain {
  const [leaf, ...signers] = chainOf(presentedBy(socket), authorities);
  if (leaf === undefined) return { endingSigner: undefined, lacksIssuer: false };
  let endingSigner: Signer | undefined;
  let endSeconds = endOf(leaf.certificate);
  for (const { certificate, isTrusted } of signers) {
    const notAfterSeconds = endOf(certificate);
    if (!(notAfterSeconds < endSeconds)) continue;
    const role = isTrusted || signsItself(certificate) ? "authority" : "intermediate";
    endingSigner = { role, subject: shownSubject(certificate), notAfterSeconds };
    endSeconds = notAfterSeconds;
  }
  const isTrusted = leaf.isTrusted || signsItself(leaf.certificate);
  return { endingSigner, lacksIssuer: signers.length === 0 && !isTrusted };
}

function signsItself(certificate: X509Certificate): boolean {
  return nameOf(certificate) === certificate.issuer;
}

interface ChainLink {
  readonly certificate: X509Certificate;
  /** Whether it is among the authorities. */
  readonly isTrusted: boolean;
}

/** Returns the chain from the first of the presented certificates to the first one that is trusted. */
function chainOf(
  [leaf, ...sent]: readonly X509Certificate[],
  authorities: Authorities,
): readonly ChainLink[] {
  if (leaf === undefined) return [];
  const isAuthority = (one: X509Certificate): boolean =>
    authorities.get(nameOf(one))?.some(({ fingerprint256 }) => fingerprint256 === one.fingerprint256) ===
    true;
  const chain: ChainLink[] = [{ certificate: leaf, isTrusted: isAuthority(leaf) }];
  for (let last = chain.at(-1); last !== undefined && !last.isTrusted; last = chain.at(-1)) {
    const { certificate } = last;
    const signed = (one: X509Certificate): boolean => certificate.checkIssued(one);
    const trusted = latest((authorities.get(certificate.issuer) ?? []).filter(signed));
    const next =
      trusted ?? sent.find((one) => signed(one) && chain.every((each) => each.certificate !== one));
    if (next === undefined) break;
    chain.push({ certificate: next, isTrusted: trusted !== undefined || isAuthority(next) });
  }
  return chain;
}

/** Returns the certificates that the peer has sent in the order of their signatures, and authorities of Node.js behind them. */
function presentedBy(socket: TLSSocket): readonly X509Certificate[] {
  const presented: X509Certificate[] = [];
  const seen = new Set<string>();
  let next: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && next.fingerprint256 !== undefined && presented.length < MAX_CHAIN) {
    if (seen.has(next.fingerprint256)) break;
    seen.add(next.fingerprint256);
    presented.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return presented;
}

/** OpenSSL prefers an authority that is valid to an expired one of the same name and key. */
function latest(authorities: readonly X509Certificate[]): X509Certificate | undefined {
  return authorities.toSorted((a, b) => endOf(b) - endOf(a))[0];
}

function endOf({ validTo }: X509Certificate): number {
  return Date.parse(validTo) / 1000;
}

/** Node.js leaves out an empty subject, although its types say otherwise. */
function nameOf({ subject }: Partial<Pick<X509Certificate, "subject">>): string {
  return subject ?? "";
}

const MAX_SUBJECT_LENGTH = 100;

function shownSubject(certificate: X509Certificate): string {
  const subject = printable(nameOf(certificate).replaceAll("\n", ", "));
  return subject.length > MAX_SUBJECT_LENGTH ? `${subject.slice(0, MAX_SUBJECT_LENGTH)}…` : subject;
}
