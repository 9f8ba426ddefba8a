import { format, inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "../../src/support/secret.ts";

test("a secret shows itself as <secret> however it is printed", () => {
  const secret = new Secret("hunter2");
  const shown = [String(secret), JSON.stringify({ secret }), inspect({ secret }), format("%o", secret)];
  expect(shown).toEqual(["<secret>", '{"secret":"<secret>"}', "{ secret: <secret> }", "<secret>"]);
});

test("a secret gives its value only when it is asked to", () => {
  expect(new Secret("hunter2").reveal()).toBe("hunter2");
});
