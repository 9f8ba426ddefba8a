import { expect, test } from "vitest";
import { createPermits, type Permit, type Precedence } from "../../src/client/permits.ts";

function hold(maxOpen = () => Number.POSITIVE_INFINITY) {
  const hanging = new Set<() => void>();
  const attention = {
    deadline: (timeoutMs: number, onOver: () => void) => {
      expect(timeoutMs).toBe(250);
      hanging.add(onOver);
      return () => (hanging.delete(onOver) ? timeoutMs : 0);
    },
  };
  const all = createPermits({ attention, maxOpen });
  /** Labels of served claims, in order. */
  const served: string[] = [];
  const permits = new Map<string, Permit>();
  return {
    served,
    permits,
    claim: (label: string, precedence: Precedence = "list") =>
      all.claim(precedence, (permit) => {
        served.push(label);
        permits.set(label, permit);
      }),
    /** Lets 250 ms of attentive time pass for all hanging connections. */
    hang: () => {
      const struck = Array.from(hanging);
      for (const strike of struck) strike();
    },
  };
}

const labels = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test("64 connections start at once, and the next when one of them has succeeded or failed", () => {
  const { claim, served, permits } = hold();
  for (const label of labels("a", 66)) claim(label);
  expect(served).toEqual(labels("a", 64));
  permits.get("a7")?.attemptEnded();
  expect(served).toEqual(labels("a", 65));
  permits.get("a7")?.release();
  expect(served).toEqual(labels("a", 65));
  permits.get("a8")?.release();
  expect(served).toEqual(labels("a", 66));
});

test("connections that hang delay others by 250 ms of attentive time", () => {
  const { claim, served, hang } = hold();
  for (const label of [...labels("dead", 128), "good"]) claim(label);
  hang();
  expect(served).toEqual(labels("dead", 128));
  hang();
  expect(served).toEqual([...labels("dead", 128), "good"]);
});

test("500 appliances whose connections hang delay 500 others by two seconds", () => {
  const { claim, served, permits, hang } = hold();
  const good = labels("good", 500);
  for (const [index, label] of labels("dead", 500).entries()) {
    claim(label);
    claim(good[index] ?? "");
  }
  let hangs = 0;
  const isGoodServed = (): boolean => good.every((label) => served.includes(label));
  for (; !isGoodServed(); hangs += 1) {
    for (const label of good) permits.get(label)?.attemptEnded();
    hang();
  }
  expect(hangs * 250).toBeLessThanOrEqual(2500);
});

test("polls that lost their connection go first, then lists, then website tests", () => {
  const { claim, served, permits } = hold();
  for (const label of labels("a", 64)) claim(label);
  claim("test", "test");
  claim("list");
  claim("replacement", "replacement");
  for (const label of labels("a", 3)) permits.get(label)?.attemptEnded();
  expect(served.slice(64)).toEqual(["replacement", "list", "test"]);
});

test("a withdrawn claim is not served", () => {
  const { claim, served, permits } = hold();
  for (const label of labels("a", 64)) claim(label);
  const gone = claim("gone");
  const next = claim("next");
  expect([gone.isNext(), next.isNext()]).toEqual([true, false]);
  gone.withdraw();
  expect([gone.isNext(), next.isNext()]).toEqual([false, true]);
  permits.get("a0")?.attemptEnded();
  expect(served.slice(64)).toEqual(["next"]);
});

test("at the limit of open connections, the one that has been idle longest is closed for the next", () => {
  const { claim, served, permits } = hold(() => 3);
  for (const label of labels("a", 5)) claim(label);
  expect(served).toEqual(labels("a", 3));
  for (const label of labels("a", 3)) permits.get(label)?.attemptEnded();
  expect(served).toEqual(labels("a", 3));

  const ended: string[] = [];
  const endsFor = (label: string) => () => {
    ended.push(label);
    permits.get(label)?.release();
  };
  permits.get("a1")?.idle(endsFor("a1"));
  expect([ended, served]).toEqual([["a1"], labels("a", 4)]);
  permits.get("a0")?.idle(endsFor("a0"));
  expect([ended, served]).toEqual([["a1", "a0"], labels("a", 5)]);
  permits.get("a3")?.idle(endsFor("a3"));
  permits.get("a4")?.idle(endsFor("a4"));
  permits.get("a3")?.busy();
  permits.get("a3")?.idle(endsFor("a3"));
  claim("late");
  expect([ended, served]).toEqual([
    ["a1", "a0", "a4"],
    [...labels("a", 5), "late"],
  ]);
});
