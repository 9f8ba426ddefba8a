import { describe, expect, it } from "vitest";
import { PROOFS } from "./proofs.ts";
import { runProof } from "./proof.ts";

const rows = PROOFS.map((proof) => [proof.fault, proof.name, proof] as const);

describe.concurrent("on real sockets", () => {
  it.each(rows)("fault %i: %s", { timeout: 90_000 }, async (_, _name, proof) => {
    await expect(runProof(proof)).resolves.toBeUndefined();
  });
});
