import type { LookupAddress } from "node:dns";
import { expect, test } from "vitest";
import { createLookup, type Lookup } from "../../../src/exporter/client/lookup.ts";

const ADDRESSES: readonly LookupAddress[] = [
  { address: "2001:db8::1", family: 6 },
  { address: "192.0.2.1", family: 4 },
];

/** A resolver that answers when the test lets it. */
function heldResolver() {
  const asked: {
    readonly hostname: string;
    readonly resolve: () => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  const resolveAll = (hostname: string) =>
    new Promise<readonly LookupAddress[]>((resolve, reject) => {
      asked.push({ hostname, resolve: () => resolve(ADDRESSES), reject });
    });
  return { asked, resolveAll, names: () => asked.map(({ hostname }) => hostname) };
}

function lookUp(lookup: Lookup, hostname: string): Promise<unknown> {
  return lookup(hostname, () => true);
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("concurrent lookups of one name share one result", async () => {
  const { asked, resolveAll, names } = heldResolver();
  const lookup = createLookup(4, resolveAll);
  const answers = [lookUp(lookup, "waf.example"), lookUp(lookup, "waf.example")];
  await settle();
  expect(names()).toEqual(["waf.example"]);
  asked[0]?.resolve();
  expect(await Promise.all(answers)).toEqual([ADDRESSES, ADDRESSES]);
});

test("concurrent lookups are limited; the others follow in order", async () => {
  const { asked, resolveAll, names } = heldResolver();
  const lookup = createLookup(2, resolveAll);
  const answers = ["a", "b", "c", "d"].map((name) => lookUp(lookup, name));
  await settle();
  expect(names()).toEqual(["a", "b"]);
  asked[1]?.resolve();
  await settle();
  expect(names()).toEqual(["a", "b", "c"]);
  for (const index of [0, 2]) asked[index]?.resolve();
  await settle();
  asked[3]?.resolve();
  expect(await Promise.all(answers)).toEqual([ADDRESSES, ADDRESSES, ADDRESSES, ADDRESSES]);
});

test("all waiting lookups fail together, and the next one tries again", async () => {
  const { asked, resolveAll, names } = heldResolver();
  const lookup = createLookup(1, resolveAll);
  const answers = [lookUp(lookup, "waf.example"), lookUp(lookup, "waf.example")];
  const settled = Promise.allSettled(answers);
  await settle();
  asked[0]?.reject(new Error("ENOTFOUND"));
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  void lookUp(lookup, "waf.example");
  await settle();
  expect(names()).toEqual(["waf.example", "waf.example"]);
});

test("a name that nobody wants any more when it is its turn is not looked up, and later again", async () => {
  const { asked, resolveAll, names } = heldResolver();
  const lookup = createLookup(1, resolveAll);
  let isWanted = true;
  const answers = [lookUp(lookup, "a"), lookup("b", () => isWanted), lookup("b", () => isWanted)];
  isWanted = false;
  asked[0]?.resolve();
  await settle();
  asked[0]?.resolve();
  expect(await Promise.all(answers)).toEqual([ADDRESSES, [], []]);
  void lookUp(lookup, "b");
  await settle();
  expect(names()).toEqual(["a", "b"]);
});

test("the system's resolver returns every address of localhost", async () => {
  expect(await lookUp(createLookup(1), "localhost")).toContainEqual({ address: "127.0.0.1", family: 4 });
});
