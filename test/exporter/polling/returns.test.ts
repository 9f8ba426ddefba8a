import { expect, test } from "vitest";
import { answerOf, QUIET, startExporter, type Answers, type Kind } from "./held-exporter.ts";
import { failing } from "./poller-support.ts";

/** Discovery polls every five minutes, as by default. */
const SELDOM_MS = 300_000;
const TWO: Answers = { website_list: () => answerOf(["1", "2"]) };
const WEBSITE_KINDS = ["website_list", "website_details", "website_test"] as const;

const WEBSITES = ["website_details", "website_test"] as const;

type Fault = ReturnType<typeof failing>;
const CUT_OFF = failing("connect");
const UNAVAILABLE = failing("http_status", { status: 503 });
const UNAUTHORIZED = failing("auth", { status: 401 });
const SLOW = failing("timeout");
const NOT_THERE = failing("unsupported", { status: 404 });
const DEFERRED = failing("http_status", { status: 503, retryAfterMs: 30_000 });
const GONE = failing("http_status", { status: 404, isGone: true });
const WELCOME = failing("decode");

/** How `b` fails, by seconds since the outage began; `undefined` while it answers. */
type Course = (seconds: number, kind: Kind) => Fault | undefined;

/** An exporter that has seen everything, and whose appliance `b` fails from its next details on. */
async function startOutage(course: Course) {
  let beganMs = Number.POSITIVE_INFINITY;
  const faultOf = (kind: Kind, member: string, nth: number) => {
    if (member !== "b") return undefined;
    if (kind === "website_details" && nth === 2) beganMs = Math.min(beganMs, performance.now());
    return performance.now() < beganMs ? undefined : course((performance.now() - beganMs) / 1000, kind);
  };
  const answers = Object.fromEntries(
    (["vrrp", ...WEBSITE_KINDS] as const).map((kind) => {
      const answer: Answers[Kind] = (member, nth, id) =>
        faultOf(kind, member, nth) ?? (TWO[kind] ?? QUIET[kind])(member, nth, id);
      return [kind, answer];
    }),
  );
  const started = startExporter(answers, SELDOM_MS);
  while (beganMs === Number.POSITIVE_INFINITY) await started.clock.pass(100);
  return { ...started, beganMs };
}

const until = (end: number, fault: Fault, kinds?: readonly Kind[]): Course => {
  return (seconds, kind) => (seconds < end && kinds?.includes(kind) !== false ? fault : undefined);
};
const first = (...courses: readonly Course[]): Course => {
  return (seconds, kind) =>
    courses.map((course) => course(seconds, kind)).find((fault) => fault !== undefined);
};

/** A reboot: cut off for a minute, then the list answers, and websites fail like this for so long. */
const reboot = (seconds: number, fault: Fault, kinds: readonly Kind[] = WEBSITE_KINDS) =>
  first(until(60, CUT_OFF), until(60 + seconds, fault, kinds));
const twice: Course = (seconds, kind) =>
  seconds < 60 || (seconds > 64 && seconds < 120)
    ? CUT_OFF
    : until(130, UNAVAILABLE, WEBSITE_KINDS)(seconds, kind);

/** The list is polled half a second after the full five seconds. */
test.each<readonly [what: string, course: Course, knownAfter: number]>([
  ["that is cut off for a minute", until(60, CUT_OFF), 61],
  ["that answers with an error for a minute", until(60, UNAVAILABLE), 61],
  ["that does not answer in time for a minute", until(60, SLOW), 61],
  [
    "that refuses the credentials for eight seconds after its boot",
    first(until(60, CUT_OFF), until(68, UNAUTHORIZED)),
    71,
  ],
  ["that boots, and whose websites are unavailable for eight seconds more", reboot(8, UNAVAILABLE), 71],
  ["that boots, and whose websites are unavailable for 40 s more", reboot(40, UNAVAILABLE), 111],
  ["that boots, and that lacks the operations for eight seconds more", reboot(8, NOT_THERE), 71],
  ["that boots, and that lacks its websites for eight seconds more", reboot(8, GONE, WEBSITES), 71],
  ["that boots, and shows a welcome page for eight seconds more", reboot(8, WELCOME), 71],
  ["that boots, and whose websites are slow for eight seconds more", reboot(8, SLOW), 71],
  ["that boots, and whose websites ask for 30 s", reboot(8, DEFERRED), 96],
  ["that boots twice", twice, 131],
  ["that is cut off while its list is not polled", until(0.1, CUT_OFF), 6],
  ["whose websites are cut off while its list succeeds", until(2, CUT_OFF, WEBSITE_KINDS), 6],
])("everything of an appliance %s is known again soon", async (_, course, knownAfter) => {
  const { clock, board } = await startOutage(course);
  let wrongUntil = 0;
  // Until each website was tested in turn once more.
  for (let second = 1; second < knownAfter + 40; second += 1) {
    await clock.pass(1000);
    const { problems, clusters } = await board.document();
    const isReady = clusters[0]?.appliances[0]?.failover?.state === "ready";
    if (problems.length > 0 || !isReady) wrongUntil = second;
  }
  expect(wrongUntil + 1).toBe(knownAfter);
});

/** The second request for a path, and all later ones, fail like this. */
const onlyFirst = (kind: Kind, fault: Fault): NonNullable<Answers[Kind]> => {
  return (member, nth, id) => (nth > 1 ? fault : (TWO[kind] ?? QUIET[kind])(member, nth, id));
};
const BROKEN: Answers = {
  website_list: onlyFirst("website_list", CUT_OFF),
  website_details: onlyFirst("website_details", CUT_OFF),
  website_test: () => UNAVAILABLE,
};
const FLAPPING: Answers = {
  vrrp: (member, nth, id) => (nth % 2 === 0 ? CUT_OFF : QUIET.vrrp(member, nth, id)),
};

async function requestsOf(given: Answers): Promise<Readonly<Record<Kind, number>>> {
  const { clock, requests } = startExporter({ ...TWO, ...given }, SELDOM_MS);
  await clock.pass(1_200_000);
  return requests;
}

let quiet: Readonly<Record<Kind, number>> | undefined;

test.each<readonly [what: string, answers: Answers, times: readonly number[]]>([
  ["broken for good: a few more until they wait for their turns", BROKEN, [1, 2.5, 3, 1]],
  ["broken for good, and the list fails every second time", { ...BROKEN, ...FLAPPING }, [1, 6, 6, 4]],
])("how often websites are polled that are %s", async (_, answers, times) => {
  const onQuietDay = (quiet ??= await requestsOf({}));
  const made = await requestsOf(answers);
  const kinds = ["vrrp", ...WEBSITE_KINDS] as const;
  expect(kinds.filter((kind, nth) => made[kind] > onQuietDay[kind] * (times[nth] ?? 0))).toEqual([]);
});
