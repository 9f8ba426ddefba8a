import { X509Certificate } from "node:crypto";
import * as tls from "node:tls";
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
      ? blocksOfNode()
      : (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []);
  const bySubject = new Map<string, X509Certificate[]>();
  for (const block of blocks) {
    const certificate = new X509Certificate(block);
    bySubject.set(nameOf(certificate), [...(bySubject.get(nameOf(certificate)) ?? []), certificate]);
  }
  return bySubject;
}

/** Node.js 20 does not tell which ones NODE_EXTRA_CA_CERTS adds. */
function blocksOfNode(): readonly string[] {
  const { rootCertificates, getCACertificates }: NodeAuthorities = tls;
  return getCACertificates?.("default") ?? rootCertificates;
}

interface NodeAuthorities {
  readonly rootCertificates: readonly string[];
  readonly getCACertificates?: (type: "default") => readonly string[];
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
 * Returns what is known of the chain of a certificate that a peer has presented. As in OpenSSL, an authority that signed a certificate comes
 * before an intermediate that the peer has sent: the peer may send a cross-signed one that has expired, which nobody needs.
 */
export function presentedChain(ofPeer: X509Certificate, authorities: Authorities): Chain {
  const [leaf, ...signers] = chainOf(ofPeer, authorities);
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

/** Returns the chain from a certificate to the first one that is trusted. */
function chainOf(leaf: X509Certificate, authorities: Authorities): readonly [ChainLink, ...ChainLink[]] {
  const sent = sentBehind(leaf);
  const isAuthority = (one: X509Certificate): boolean =>
    authorities.get(nameOf(one))?.some(({ fingerprint256 }) => fingerprint256 === one.fingerprint256) ===
    true;
  const chain: [ChainLink, ...ChainLink[]] = [{ certificate: leaf, isTrusted: isAuthority(leaf) }];
  for (let last = chain.at(-1); last !== undefined && !last.isTrusted; last = chain.at(-1)) {
    const { certificate } = last;
    const signed = (one: X509Certificate): boolean => certificate.checkIssued(one);
    const trusted = latest((authorities.get(certificate.issuer) ?? []).filter(signed));
    const isNew = (one: X509Certificate): boolean => chain.every((each) => each.certificate !== one);
    const next = trusted ?? latest(sent.filter((one) => isNew(one) && signed(one)));
    if (next === undefined) break;
    chain.push({ certificate: next, isTrusted: trusted !== undefined || isAuthority(next) });
  }
  return chain;
}

/** Returns the certificates that the peer has sent behind its own, in its order. */
function sentBehind(leaf: X509Certificate): readonly X509Certificate[] {
  const sent: X509Certificate[] = [];
  let next = leaf.issuerCertificate;
  while (next !== undefined && sent.length < MAX_CHAIN) {
    sent.push(next);
    next = next.issuerCertificate;
  }
  return sent;
}

/** OpenSSL prefers a certificate that is valid to an expired one of the same name and key. */
function latest(certificates: readonly X509Certificate[]): X509Certificate | undefined {
  return certificates.toSorted((a, b) => endOf(b) - endOf(a))[0];
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
