import { format, inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "../../src/support/secret.ts";

test("a secret is printed as <secret> in every way", () => {
  const secret = new Secret("hunter2");
  const shown = [String(secret), JSON.stringify({ secret }), inspect({ secret }), format("%o", secret)];
  expect(shown).toEqual(["<secret>", '{"secret":"<secret>"}', "{ secret: <secret> }", "<secret>"]);
});

test("only reveal returns the value of a secret", () => {
  expect(new Secret("hunter2").reveal()).toBe("hunter2");
});
