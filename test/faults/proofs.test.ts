import { describe, inject, it } from "vitest";
import { runProof } from "./proof.ts";
import { PROOFS } from "./proofs.ts";

const rows = PROOFS.map((proof) => [proof.fault, proof.name, proof] as const);

describe.concurrent("on real sockets", () => {
  // The context's own `expect`: the global one takes concurrent tests for one another.
  it.for(rows)("fault %i: %s", async ([, , proof], { expect, skip }) => {
    const tool = proof.needs === undefined ? undefined : inject(proof.needs);
    if (tool?.ok === false) skip(tool.reason);
    await expect(runProof(proof)).resolves.toBeUndefined();
  });
});
