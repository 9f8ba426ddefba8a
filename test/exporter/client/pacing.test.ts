import { expect, test } from "vitest";
import type { Connection } from "../../../src/exporter/client/connection.ts";
import { createConnections, type Precedence } from "../../../src/exporter/client/connections.ts";
import { systemClock } from "../../../src/support/clock.ts";

/** A connection that the test has succeed, and end. */
interface FakeConnection extends Connection {
  readonly attemptEnded: () => void;
}

function hold(maxOpen = Number.POSITIVE_INFINITY) {
  const hanging = new Set<() => void>();
  const attention = {
    deadline: (timeoutMs: number, onOver: () => void) => {
      expect(timeoutMs).toBe(250);
      hanging.add(onOver);
      return () => void hanging.delete(onOver);
    },
  };
  const createPool = createConnections(attention, systemClock, () => maxOpen);
  /** Labels of polls that got a connection, in order. */
  const served: string[] = [];
  const ended: string[] = [];
  const connections = new Map<string, FakeConnection>();
  const pools = new Map<string, ReturnType<typeof createPool>>();

  /** A poll of an appliance of its own waits for a connection. */
  function claim(label: string, precedence: Precedence = "list"): void {
    const pool = createPool(({ onAttemptEnded, onDestroyed }) => {
      const connection: FakeConnection = {
        attemptEnded: onAttemptEnded,
        send: () => Promise.reject(new Error("unused")),
        stage: () => "connected",
        peerAddress: () => undefined,
        refusal: () => undefined,
        isUsable: () => true,
        destroy: () => {
          if (!connections.delete(label)) return;
          ended.push(label);
          onDestroyed();
        },
      };
      connections.set(label, connection);
      served.push(label);
      return connection;
    });
    pools.set(label, pool);
    void pool.take(precedence);
  }
  return {
    served,
    ended,
    claim,
    succeed: (label: string) => connections.get(label)?.attemptEnded(),
    end: (label: string) => connections.get(label)?.destroy(),
    giveBack: (label: string) => {
      const connection = connections.get(label);
      if (connection !== undefined) pools.get(label)?.giveBack(connection);
    },
    take: (label: string) => pools.get(label)?.take("list"),
    close: (label: string) => pools.get(label)?.close(),
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
  const { claim, served, succeed, end } = hold();
  for (const label of labels("a", 66)) claim(label);
  expect(served).toEqual(labels("a", 64));
  succeed("a7");
  expect(served).toEqual(labels("a", 65));
  end("a7");
  expect(served).toEqual(labels("a", 65));
  end("a8");
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
  const { claim, served, succeed, hang } = hold();
  const good = labels("good", 500);
  for (const [index, label] of labels("dead", 500).entries()) {
    claim(label);
    claim(good[index] ?? "");
  }
  let hangs = 0;
  const isGoodServed = (): boolean => good.every((label) => served.includes(label));
  for (; !isGoodServed(); hangs += 1) {
    for (const label of good) succeed(label);
    hang();
  }
  expect(hangs * 250).toBeLessThanOrEqual(2500);
});

test("lists go before website tests", () => {
  const { claim, served, succeed } = hold();
  for (const label of labels("a", 64)) claim(label);
  claim("test", "test");
  claim("list");
  for (const label of labels("a", 2)) succeed(label);
  expect(served.slice(64)).toEqual(["list", "test"]);
});

test("a poll that no longer waits gets no connection", () => {
  const { claim, served, succeed, close } = hold();
  for (const label of labels("a", 64)) claim(label);
  claim("gone");
  claim("next");
  close("gone");
  succeed("a0");
  expect(served.slice(64)).toEqual(["next"]);
});

test("at the limit of open connections, the one that has been idle longest is closed for the next", () => {
  const { claim, served, ended, succeed, giveBack, take } = hold(3);
  for (const label of labels("a", 5)) claim(label);
  expect(served).toEqual(labels("a", 3));
  for (const label of labels("a", 3)) succeed(label);
  expect(served).toEqual(labels("a", 3));

  giveBack("a1");
  expect([ended, served]).toEqual([["a1"], labels("a", 4)]);
  giveBack("a0");
  expect([ended, served]).toEqual([["a1", "a0"], labels("a", 5)]);
  giveBack("a3");
  giveBack("a4");
  void take("a3");
  giveBack("a3");
  claim("late");
  expect([ended, served]).toEqual([
    ["a1", "a0", "a4"],
    [...labels("a", 5), "late"],
  ]);
});
