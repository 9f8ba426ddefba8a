import { isIP } from "node:net";

import { generate } from "selfsigned";

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
const ALGORITHM = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/** Creates an authority with its own key; two authorities do not trust each other. */
export async function createAuthority(name = "appliance-exporter loopback authority"): Promise<Authority> {
  const made = await generate([{ name: "commonName", value: name }], {
    ...ALGORITHM,
    ...validity({}),
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
  const made = await generate([{ name: "commonName", value: hosts[0] ?? "nobody" }], {
    ...ALGORITHM,
    ...validity(options),
    ca,
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "keyUsage", digitalSignature: true },
      { name: "extKeyUsage", serverAuth: true, clientAuth: true },
      { name: "subjectAltName", altNames: hosts.map(altName) },
    ],
  });
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
