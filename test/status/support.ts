import { WHOLE_FLEET } from "../../src/config/shard.ts";
import type { Fleet } from "../../src/fleet/fleet.ts";
import { fleetDocument, type DocumentFacts } from "../../src/status/document.ts";
import { createJudge } from "../../src/status/judge.ts";
import type { FleetDocument } from "../../src/status/schema.ts";
import { WALL_MS } from "../support/observations.ts";

/** The document of a fleet at the monotonic instant `nowMs`, a minute after the canned observations. */
export function documentOf(
  fleet: Fleet,
  given: Partial<DocumentFacts> = {},
  nowMs = 0,
  judge = createJudge(),
): FleetDocument {
  const at = { wallMs: WALL_MS + nowMs, monotonicMs: nowMs };
  const verdicts = judge.judgeAll(fleet.snapshot(nowMs), at).map(({ now }) => now);
  return fleetDocument(verdicts, {
    version: "1.2.3",
    shard: WHOLE_FLEET,
    startedAtMs: WALL_MS - 60_000,
    nowMs: WALL_MS + 60_000,
    reloadFailedAtMs: undefined,
    nextPollAtMs: () => undefined,
    events: [],
    ...given,
  });
}

/** What is wrong, a line each: severity, kind and words. */
export function problemLines(document: FleetDocument): readonly string[] {
  return document.problems.map(({ severity, kind, summary }) => `${severity} ${kind}: ${summary}`);
}
