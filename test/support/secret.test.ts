import { format, inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "../../src/support/secret.ts";

test("a secret is printed as <secret> in every way, and only reveal returns its value", () => {
  const secret = new Secret("hunter2");
  const shown = [String(secret), JSON.stringify({ secret }), inspect({ secret }), format("%o", secret)];
  expect(shown).toEqual(["<secret>", '{"secret":"<secret>"}', "{ secret: <secret> }", "<secret>"]);
  expect(secret.reveal()).toBe("hunter2");
});
