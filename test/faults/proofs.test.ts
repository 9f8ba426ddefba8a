import { describe, it } from "vitest";
import { PROOFS } from "./proofs.ts";
import { runProof } from "./proof.ts";

const rows = PROOFS.map((proof) => [proof.fault, proof.name, proof] as const);

describe.concurrent.each(rows)("fault %i", (_, name, proof) => {
  it(name, () => runProof(proof), 90_000);
});
