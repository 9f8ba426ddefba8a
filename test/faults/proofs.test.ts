import { describe, it } from "vitest";
import { runProof } from "./proof.ts";
import { PROOFS_OF_PAUSES } from "./proofs-of-pauses.ts";
import { PROOFS_OF_PUNCTUALITY } from "./proofs-of-punctuality.ts";

describe.concurrent.each([...PROOFS_OF_PAUSES, ...PROOFS_OF_PUNCTUALITY].map((proof) => [proof.fault, proof.name, proof] as const))("fault %i", (_, name, proof) => {
  it(name, () => runProof(proof), 60_000);
});
