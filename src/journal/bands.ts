import type { PROBLEM_OF } from "../status/states.ts";
import type { SubjectRecord } from "./record.ts";

/** What a state means for those who depend on a subject; `impaired`: up, and something is wrong. */
export type Band = "up" | "impaired" | "down" | "unknown";

type Bands<States> = Readonly<Record<keyof States, Band | "changing">>;

const BANDS: {
  readonly [Kind in Exclude<SubjectRecord["kind"], "readiness">]: Bands<(typeof PROBLEM_OF)[Kind]>;
} & { readonly readiness: Bands<(typeof PROBLEM_OF)["failover"]> } = {
  group: {
    one_master: "up",
    no_backup: "impaired",
    backup_lost: "impaired",
    backup_unknown: "impaired",
    split_brain: "down",
    no_master: "down",
    changing: "changing",
    unknown: "unknown",
    unwatched: "unknown",
  },
  website: {
    up: "up",
    unstable: "impaired",
    partially_down: "impaired",
    down_at_master: "down",
    down: "down",
    unknown: "unknown",
  },
  appliance: { up: "up", refused: "impaired", down: "down", unknown: "unknown" },
  cluster: { up: "up", degraded: "impaired", dark: "down", unknown: "unknown" },
  readiness: { ready: "up", losses: "impaired", outage: "down", unknown: "unknown" },
};

/** `unknown` also for a state that this version does not know. `changing`: what it becomes counts from its beginning. */
export function bandOf({
  kind,
  state = "unknown",
}: Pick<SubjectRecord, "kind" | "state">): Band | "changing" {
  const bands: Readonly<Record<string, Band | "changing">> = BANDS[kind];
  return Object.hasOwn(bands, state) ? (bands[state] ?? "unknown") : "unknown";
}
