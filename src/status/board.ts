import type { Shard } from "../config/shard.ts";
import type { FleetSnapshot } from "../fleet/snapshot.ts";
import type { Clock } from "../support/clock.ts";
import type { Runner } from "../polling/runner.ts";
import { fleetDocument } from "./document.ts";
import { createHistory, type History } from "./history.ts";
import type { FleetDocument } from "./schema.ts";

/** What people are told of the fleet, kept from start on. */
export interface StatusBoard {
  readonly history: History;
  /** The configuration was reloaded, or could not be; `atMs`: Unix time in milliseconds. */
  reloaded(isSuccess: boolean, atMs: number): void;
  document(snapshot: FleetSnapshot, runner: Pick<Runner, "nextPollMs">): FleetDocument;
}

export interface StatusBoardDeps {
  readonly version: string;
  readonly shard: Shard;
  readonly clock: Clock;
}

export function createStatusBoard({ version, shard, clock }: StatusBoardDeps): StatusBoard {
  const history = createHistory();
  const startedAtMs = clock.wallMs();
  let toWallMs: number | undefined;
  let reloadFailedAtMs: number | undefined;
  return {
    history,
    reloaded: (isSuccess, atMs) => {
      reloadFailedAtMs = isSuccess ? undefined : (reloadFailedAtMs ?? atMs);
    },
    document: (snapshot, runner) => {
      const [nowMs, monotonicMs] = [clock.wallMs(), clock.monotonicMs()];
      toWallMs = keptOffset(toWallMs, nowMs - monotonicMs);
      const monotonicToWallMs = toWallMs;
      history.look(snapshot.clusters, nowMs);
      return fleetDocument(snapshot, {
        version,
        shard,
        startedAtMs,
        reloadFailedAtMs,
        nowMs,
        events: history.events(),
        memoryOf: history.memoryOf,
        recalled: history.recall(monotonicMs),
        nextPollAtMs: (appliance, operation) => {
          const nextMs = runner.nextPollMs(appliance, operation);
          return nextMs && Math.round(nextMs + monotonicToWallMs);
        },
      });
    },
  };
}

/** The two clocks are read one after the other: what differs by less is no step of the wall clock. */
const STEP_MS = 500;

/** The offset between the clocks, the same from one document to the next for as long as no clock was set. */
function keptOffset(before: number | undefined, nowMs: number): number {
  return before === undefined || Math.abs(nowMs - before) >= STEP_MS ? nowMs : before;
}
