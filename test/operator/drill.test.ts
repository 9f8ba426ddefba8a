import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { drill, type DrillFlags } from "../../src/operator/drill.ts";
import type { DrillReport } from "../../src/operator/drill-report.ts";
import { listen } from "../appliance/support.ts";
import { createTestIo } from "../support/io.ts";
import { WALL_MS } from "../support/observations.ts";
import { documentsOf } from "./drill-support.ts";

const READY = "a MASTER 0, b BACKUP 0, a 200 0, b 200 0";
const AWAY =
  "a silent 2, b BACKUP 2, b MASTER 6, b 503 7, b 503 8, b 200 10, a BACKUP 90, b MASTER 90, b MASTER 95";

interface Given {
  readonly before?: string;
  readonly polls?: string;
  readonly flags?: Partial<DrillFlags>;
  /** The second document is served when this was said. */
  readonly waitsFor?: string;
  /** Refuses to start a window. */
  readonly refusal?: string;
  /** What happens at the third look at the fleet: a signal, the terminal is closed, the exporter fails from then on, or somebody ends the window. */
  readonly third?: "signal" | "hangup" | "failure" | "end";
}

/** A drill of `a` at a stand-in for the exporter, which serves one document after the other; the clock is at the latest one. */
async function drillThrough(given: Given) {
  const { before = READY, polls = AWAY, flags = {}, waitsFor = "", refusal, third } = given;
  const documents = documentsOf(`${before}, ${polls}`);
  const changes: Readonly<Record<string, { readonly id: string }>>[] = [];
  let nowMs = 0;
  let nth = 0;
  let window: object | undefined;
  const clock = { wallMs: () => WALL_MS + nowMs, monotonicMs: () => nowMs };
  const { io, printed, stop, hangUp } = await createTestIo({ clock });
  const server = createServer((request, response) => {
    const change = (body: (typeof changes)[number]): void => {
      changes.push(body);
      const { start } = body;
      window = start && {
        ...start,
        begin: "2023-11-14T22:13:20Z",
        end: "2023-11-14T22:43:20Z",
        by: "ops",
        isDrill: true,
        subjects: ["a"],
        masters: [],
      };
      response.writeHead(refusal === undefined ? 200 : 409).end(refusal ?? "{}");
    };
    if (request.method === "POST") {
      void text(request).then((body) => change(JSON.parse(body)));
      return;
    }
    if (nth > 0 && !printed.err.includes(waitsFor)) nth = 0;
    const { fleet, atMs = 0 } = documents[Math.min(nth, documents.length - 1)] ?? {};
    if (nth === 2 && third === "signal") stop();
    if (nth === 2 && third === "hangup") hangUp();
    if (nth === 2 && third === "end") window = undefined;
    const isBroken = nth === 2 && third === "failure";
    nowMs = isBroken ? nowMs + 20_000 : atMs;
    if (!isBroken) nth += 1;
    response.statusCode = isBroken ? 503 : 200;
    response.end(JSON.stringify({ ...fleet, planned: window === undefined ? [] : [window] }));
  });
  const url = `http://127.0.0.1:${await listen(server)}/exporter`;
  const allFlags = { url, for: { text: "30m", ms: 1_800_000 }, output: "markdown", ...flags } as const;
  const code = await drill(allFlags, io, "a", 1);
  const id = changes[0]?.["start"]?.id ?? "none";
  const plain = (words: string): string => words.replaceAll(url, "URL").replaceAll(id, "ID");
  return { code, out: plain(printed.out), err: plain(printed.err), changes, id };
}

test("a drill asks, starts a window, says what to do, watches, ends the window and reports", async () => {
  const { code, out, err, changes, id } = await drillThrough({ flags: { comment: "yearly *test*" } });
  expect(changes).toEqual([
    { start: { id, appliances: ["a"], for: "30m", comment: "yearly *test*", drill: true } },
    { end: { id } },
  ]);
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(err).toBe(`2023-11-14 22:13:20 UTC  If a fails, b takes over 1 address and 1 website
2023-11-14 22:13:20 UTC  The drill waits until 22:43:20 UTC at most. Ctrl-C ends it, its command and its window, and the report is still written.
2023-11-14 22:13:20 UTC  Now let a fail, or hand over.
2023-11-14 22:13:26 UTC  Another appliance is the known MASTER of every group that a had.
2023-11-14 22:13:26 UTC  Now let a be a BACKUP again, if it is not yet.
2023-11-14 22:14:55 UTC  ams is complete: each group has one MASTER and a known BACKUP.
`);
  expect(out).toBe(`# Failover drill of a in ams: failed

## Why

- shop (https) was down for about 8.0 s, at most 10 s, which was not predicted

## Who and where

- Started by: ops
- Comment: yearly \\*test\\*
- Exporter: URL, version 1.2.3
- Command: version 1.2.3
- Window: ID
- Clocks: 2023-11-14T22:13:20.000Z at the command was 2023-11-14T22:13:20.000Z at the exporter, 0.0 s ahead, give or take 0.0 s

## Steps

- 2023-11-14 22:13:20 UTC: The readiness was queried.
- 2023-11-14 22:13:20 UTC: The window of the drill began.
- 2023-11-14 22:13:26 UTC: Another appliance is the known MASTER of every group that a had.
- 2023-11-14 22:14:50 UTC: ams is complete: each group has one MASTER and a known BACKUP.
- 2023-11-14 22:14:55 UTC: The window of the drill was ended.

## Readiness before

- If a fails, b takes over 1 address and 1 website

## Predicted losses

None.

## Addresses

- 192.0.2.100 (vhid 2): MASTER was a before, and b at the end, the preferred one

## Websites

- shop (https): up, served by a before; up, served by b, at the end

## Outages of websites

- 2023-11-14 22:13:28 UTC, until 2023-11-14 22:13:30 UTC: shop (https) was down for about 8.0 s, at most 10 s: not predicted

## Time without a known master

- 2023-11-14 22:13:26 UTC: about 3.0 s, at most 6 s. b took over 192.0.2.100 (vhid 2) from a, which stopped answering (timeout). No known master for at most 6 s

## Time without a known backup

- 2023-11-14 22:13:22 UTC, until 2023-11-14 22:14:50 UTC, at most 88 s

## Incidents of the cluster

- 2023-11-14 22:13:22 UTC, until 2023-11-14 22:14:50 UTC: a went down: it does not answer in time (timeout) (warning, not expected)
- 2023-11-14 22:13:28 UTC, until 2023-11-14 22:13:30 UTC: Down at the master: website shop (https) (critical, not expected)

## How it was measured

- The exporter polled VRRP lists every 0.5 s and tested websites every 1 s, within the limits of simultaneous tests; the command looked at the exporter every 0.001 s.
- Instants of failovers, outages and incidents are those at which the exporter learned of them, by its clock; those of steps and of the time without a backup are by the clock of the command.
- At most: certain. A website's outage counts from the latest test that found it up at a member that was MASTER then, to the first test of a MASTER that did so again; the time without a known master, from the latest poll that found the former MASTER to the first that found the new one; the time without a backup, from the latest look with one to the next.
- About: the middle of the times that the polls leave possible. It assumes that an appliance that stops answering serves nobody from then on.
`);
  expect(code).toBe(1);
});

test("a drill of both ways that passes, by a command whose output and end are shown, as JSON", async () => {
  const { code, out, err } = await drillThrough({
    polls: "a BACKUP 2, b MASTER 2, b MASTER 7, a MASTER 20, b BACKUP 20, b BACKUP 25",
    flags: { command: "echo restarting; exit 3", bothWays: true, output: "json" },
    waitsFor: "the command ended",
  });
  expect(err).toContain("restarting\nthe command ended with exit code 3\n");
  expect(code).toBe(0);
  const report: DrillReport = JSON.parse(out);
  expect(report).toMatchObject({
    verdict: "pass",
    reasons: [],
    appliance: "a",
    cluster: "ams",
    window: { id: "ID", comment: expect.stringMatching(/^drill of a by \S+ on \S+$/), by: "ops" },
    readiness: { state: "ready", summary: "If a fails, b takes over 1 address and 1 website" },
    failovers: [
      { from: "a", to: "b", withoutMasterAboutSeconds: 1, withoutMasterAtMostSeconds: 2 },
      { from: "b", to: "a", withoutMasterAboutSeconds: 6.5, withoutMasterAtMostSeconds: 13 },
    ],
    outages: [],
  });
  expect(report.steps.map(({ text: words }) => words)).toEqual([
    "The readiness was queried.",
    "The window of the drill began.",
    "The command began: echo restarting; exit 3",
    "The command ended with exit code 3.",
    "Another appliance is the known MASTER of every group that a had.",
    "ams is complete: each group has one MASTER and a known BACKUP.",
    "a is MASTER again of every group that it had, with a known BACKUP.",
    "The window of the drill was ended.",
  ]);
});

test.each<Given & { readonly name: string; readonly expected: readonly [number, string, string] }>([
  {
    name: "a signal",
    third: "signal",
    expected: [130, "incomplete", "the drill was interrupted"],
  },
  {
    name: "a terminal that is closed",
    third: "hangup",
    expected: [129, "incomplete", "the drill was interrupted"],
  },
  {
    name: "an exporter that fails for half a minute",
    third: "failure",
    expected: [1, "incomplete", "the exporter stopped answering"],
  },
  {
    name: "somebody who ends the window",
    third: "end",
    expected: [1, "failed", "the window was over first"],
  },
  {
    name: "its time",
    polls: "a silent 2, b BACKUP 2, a silent 61",
    flags: { for: { text: "1m", ms: 60_000 } },
    expected: [1, "failed", "the window was over first"],
  },
])("a drill that ends by $name ends its window, and reports what is known", async (given) => {
  const { code, out, changes, id } = await drillThrough(given);
  const [expected, verdict, reason] = given.expected;
  expect(code).toBe(expected);
  expect(out).toContain(`# Failover drill of a in ams: ${verdict}\n\n## Why\n\n- ${reason}`);
  expect(out).toContain("The window of the drill began.");
  expect(changes.at(-1)).toEqual({ end: { id } });
});

const UNTIL_OVER = "a BACKUP 2, b MASTER 2, b MASTER 7";
const BY_TERM = "was ended by SIGTERM, with the drill";

test.each<Given & { readonly name: string; readonly command: string; readonly expected: string }>([
  {
    name: "its end",
    polls: UNTIL_OVER,
    command: "echo pid $$; sleep 1000; :",
    expected: `The command ${BY_TERM}`,
  },
  {
    name: "a signal",
    third: "signal",
    command: "echo pid $$; sleep 1000; :",
    expected: `The command ${BY_TERM}`,
  },
  {
    name: "a terminal that is closed",
    third: "hangup",
    command: "echo pid $$; sleep 1000; :",
    expected: `The command ${BY_TERM}`,
  },
  {
    name: "an exporter that fails",
    third: "failure",
    command: "echo pid $$; sleep 1000; :",
    expected: `The command ${BY_TERM}`,
  },
  {
    name: "its end, with a command that ignores SIGTERM",
    polls: UNTIL_OVER,
    command: "trap '' TERM; echo pid $$; sleep 1000; sleep 1000",
    expected: "The command was ended by SIGKILL, 2 seconds after SIGTERM, with the drill",
  },
  {
    name: "its end, with a command that left a process",
    polls: UNTIL_OVER,
    command: "sleep 1000 >/dev/null 2>&1 & echo pid $!",
    expected: `What the command had left running ${BY_TERM}`,
  },
])(
  "a drill that ends by $name ends its command, and reports that",
  async ({ command, expected, ...given }) => {
    const { out, err, changes } = await drillThrough({ ...given, flags: { command }, waitsFor: "pid" });
    const [, pid = "0"] = /pid (\d+)/.exec(err) ?? [];
    expect(Number(pid)).toBeGreaterThan(1);
    // A process that was killed may still be listed until its parent has been told.
    await expect.poll(() => isRunning(Number(pid))).toBe(false);
    expect(out).toContain(`: ${expected}.\n`);
    const end = out.indexOf("The window of the drill was ended");
    expect(end).toBeGreaterThan(out.indexOf(expected));
    expect(changes.at(-1)).toHaveProperty("end");
  },
);

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test.each<Given & { readonly name: string; readonly expected: readonly [number, string] }>([
  { name: "the exporter refuses", refusal: "the drill xyz runs", expected: [2, "URL: the drill xyz runs\n"] },
  {
    name: "losses are predicted",
    before: "a MASTER 0, b BACKUP 0, a 200 0, b 503 0, b 503 0",
    expected: [1, "If a fails, shop https is lost: 503 at b; --accept-losses rehearses it nevertheless\n"],
  },
  {
    name: "nothing is known",
    before: "a silent 0, b BACKUP 0, a 200 0, b 200 0",
    expected: [2, "If a fails, it is not known what is lost: it does not answer in time (timeout)\n"],
  },
])("a drill does not begin where $name", async (given) => {
  const { code, err, out, changes } = await drillThrough(given);
  expect([code, err, out]).toEqual([...given.expected, ""]);
  expect(changes).toHaveLength(given.refusal === undefined ? 0 : 2);
});
