import { generate } from "selfsigned";

export { createAuthority, type Authority } from "../../src/demo/authority.ts";

export interface IntermediateChain {
  /** PEM of an authority that is no root: another one signed it. */
  readonly intermediate: string;
  /** Signed by it, for 127.0.0.1; server or client. */
  readonly leaf: { readonly cert: string; readonly key: string };
}

export async function createIntermediateChain(): Promise<IntermediateChain> {
  const root = await authority("a root");
  const middle = await authority("an intermediate", root);
  const made = await generate([{ name: "commonName", value: "127.0.0.1" }], {
    ...ALGORITHM,
    ca: middle,
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] },
    ],
  });
  return { intermediate: middle.cert, leaf: { cert: made.cert, key: made.private } };
}

const ALGORITHM = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

async function authority(name: string, ca?: { readonly cert: string; readonly key: string }) {
  const made = await generate([{ name: "commonName", value: name }], {
    ...ALGORITHM,
    ...(ca !== undefined && { ca }),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}
