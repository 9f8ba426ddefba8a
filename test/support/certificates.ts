import { isIP } from "node:net";
import { generate } from "selfsigned";

const ALGORITHM = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/** PEM texts. */
interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface LeafOptions {
  /** Host names and IP addresses that the certificate is for. Default: localhost and the loopback addresses. */
  readonly hosts?: readonly string[];
  /** Default: an hour ago. */
  readonly notBefore?: Date;
  /** Default: in 90 days. */
  readonly notAfter?: Date;
  /** Default: true, with the first host as its common name. */
  readonly hasSubject?: boolean;
  /** Whether its purpose is to be a server's, besides a client's; default: true. */
  readonly isForServers?: boolean;
}

/** A temporary authority; its key stays in memory. */
export interface Authority {
  /** PEM of the authority's certificate, for clients to trust. */
  readonly cert: string;
  /** A server's certificate, signed by this authority. */
  issue(options?: LeafOptions): Promise<KeyPair>;
}

const HOUR_MS = 3_600_000;
/** Longer than the warning period of the certificate alerts. */
const VALIDITY_MS = 90 * 24 * HOUR_MS;
/** Authorities outlast what they sign. */
const AUTHORITY_VALIDITY_MS = 2 * VALIDITY_MS;

/** Creates an authority with its own key; two authorities do not trust each other. */
export async function createAuthority(name = "appliance-exporter loopback authority"): Promise<Authority> {
  const made = await generate([{ name: "commonName", value: name }], {
    ...ALGORITHM,
    ...validity({ notAfter: new Date(Date.now() + AUTHORITY_VALIDITY_MS) }),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const ca = { cert: made.cert, key: made.private };
  return { cert: ca.cert, issue: (options = {}) => issueLeaf(ca, options) };
}

async function issueLeaf(ca: KeyPair, options: LeafOptions): Promise<KeyPair> {
  const hosts = options.hosts ?? ["localhost", "127.0.0.1", "::1"];
  const subject = options.hasSubject === false ? [] : [{ name: "commonName", value: hosts[0] ?? "nobody" }];
  const made = await generate(subject, {
    ...ALGORITHM,
    ...validity(options),
    ca,
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "keyUsage", digitalSignature: true },
      { name: "extKeyUsage", serverAuth: options.isForServers !== false, clientAuth: true },
      { name: "subjectAltName", altNames: hosts.map(altName) },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/** Self-signed, without a name if none is given. */
export async function selfSigned(name?: string, options: LeafOptions = {}): Promise<KeyPair> {
  const subject = name === undefined ? [] : [{ name: "commonName", value: name }];
  const made = await generate(subject, { ...ALGORITHM, ...validity(options) });
  return { cert: made.cert, key: made.private };
}

function validity({ notBefore, notAfter }: LeafOptions) {
  return {
    notBeforeDate: notBefore ?? new Date(Date.now() - HOUR_MS),
    notAfterDate: notAfter ?? new Date(Date.now() + VALIDITY_MS),
  };
}

function altName(host: string) {
  return isIP(host) === 0 ? ({ type: 2, value: host } as const) : ({ type: 7, ip: host } as const);
}

export interface IntermediateChain {
  /** PEM of the authority that signed the intermediate. */
  readonly root: string;
  /** PEM of the same authority, signed by another one; both of these certificates have expired. */
  readonly crossSigned: string;
  /** PEM of an authority that is no root: another one signed it. */
  readonly intermediate: string;
  /** PEM of the same intermediate before its renewal, which has expired. */
  readonly oldIntermediate: string;
  /** PEM of another authority, which has expired, and of the same intermediate, signed by it. */
  readonly oldRoot: string;
  readonly crossIntermediate: string;
  /** Signed by it, for 127.0.0.1; server or client. */
  readonly leaf: { readonly cert: string; readonly key: string };
}

/** The ends of validity. */
interface ChainEnds {
  readonly root?: Date;
  readonly intermediate?: Date;
  readonly leaf?: Date;
}

export async function createIntermediateChain(ends: ChainEnds = {}): Promise<IntermediateChain> {
  const { root: rootEnd, intermediate: middleEnd, leaf: leafEnd } = ends;
  const root = await authority("a root", rootEnd);
  const oldRoot = await authority("an old root", EXPIRED_AT);
  const crossSigned = await authority("a root", EXPIRED_AT, oldRoot, root.keyPair);
  const middle = await authority("an intermediate", middleEnd, root);
  const crossEnd = new Date(Date.now() + VALIDITY_MS + HOUR_MS);
  const crossMiddle = await authority("an intermediate", crossEnd, oldRoot, middle.keyPair);
  const oldMiddle = await authority("an intermediate", EXPIRED_AT, root, middle.keyPair);
  return {
    root: root.cert,
    crossSigned: crossSigned.cert,
    intermediate: middle.cert,
    oldIntermediate: oldMiddle.cert,
    oldRoot: oldRoot.cert,
    crossIntermediate: crossMiddle.cert,
    leaf: await chainLeaf(middle, leafEnd),
  };
}

/** Creates two authorities that sign each other, PEM, of which neither is a root, and a certificate that one of them signed. */
export async function createMutualSigners(): Promise<{
  readonly authorities: string;
  readonly leaf: KeyPair;
}> {
  const one = await authority("one authority");
  const other = await authority("another authority");
  const signed = await Promise.all([
    authority("one authority", undefined, other, one.keyPair),
    authority("another authority", undefined, one, other.keyPair),
  ]);
  return { authorities: signed.map(({ cert }) => cert).join("\n"), leaf: await chainLeaf(one) };
}

async function chainLeaf(ca: KeyPair, notAfter?: Date): Promise<KeyPair> {
  const made = await generate([{ name: "commonName", value: "127.0.0.1" }], {
    ...ALGORITHM,
    ...chainValidity(notAfter),
    ca,
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/** Begins long ago, so that a certificate may have expired. */
function chainValidity(notAfter = new Date(Date.now() + VALIDITY_MS)) {
  return validity({ notBefore: new Date(Date.now() - VALIDITY_MS), notAfter });
}

const EXPIRED_AT = new Date(Date.now() - HOUR_MS);

/** Creates an authority. With the `keyPair` of another one, and its name, it is the same authority signed by `ca`. */
async function authority(
  name: string,
  notAfter = new Date(Date.now() + AUTHORITY_VALIDITY_MS),
  ca?: KeyPair,
  keyPair?: { readonly publicKey: string; readonly privateKey: string },
) {
  const made = await generate([{ name: "commonName", value: name }], {
    ...ALGORITHM,
    ...chainValidity(notAfter),
    ...(ca !== undefined && { ca }),
    ...(keyPair !== undefined && { keyPair }),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  const pair = { publicKey: made.public, privateKey: made.private };
  return { cert: made.cert, key: made.private, keyPair: pair };
}
