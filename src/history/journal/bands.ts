import type { PROBLEM_OF } from "../../exporter/judge/states.ts";

/**
 * The bands say what states mean for those who depend on a subject, the worst first. `planned` is down or unknown because of planned work.
 * `impaired` is up, and something is wrong.
 */
const BANDS = ["down", "unknown", "changing", "planned", "impaired", "up"] as const;
export type Band = Exclude<(typeof BANDS)[number], "changing">;

type Bands<States> = Readonly<Record<keyof States, Band | "changing">>;

const BAND_OF: {
  readonly [Kind in "group" | "website" | "appliance"]: Bands<(typeof PROBLEM_OF)[Kind]>;
} & { readonly readiness: Bands<(typeof PROBLEM_OF)["readiness"]> } = {
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
  readiness: { ready: "up", losses: "impaired", outage: "down", unknown: "unknown" },
};

/**
 * Returns the band of a record: `unknown` also for a state that this version does not know. For `changing`, the band that follows counts
 * from the beginning of the change.
 */
export function bandOf(record: BandInputs): Band | "changing" {
  if (record.kind === "cluster") return BANDS.find((band) => band === record.worst) ?? "unknown";
  const { kind, state = "unknown", isPlanned = false } = record;
  const bands: Readonly<Record<string, Band | "changing">> = BAND_OF[kind];
  const band = Object.hasOwn(bands, state) ? (bands[state] ?? "unknown") : "unknown";
  return isPlanned && (band === "down" || band === "unknown") ? "planned" : band;
}

/** Whether a subject was watched, and nobody could tell its state: nobody answered, or no master was known. Planned work may explain it. */
export function isUnanswered({ kind, state, isPlanned }: UnansweredInputs): boolean {
  return (kind === "group" || kind === "website") && state === "unknown" && isPlanned !== true;
}

interface UnansweredInputs {
  readonly kind: BandInputs["kind"];
  readonly state?: string | undefined;
  readonly isPlanned?: boolean | undefined;
}

/** The part of a record that decides about the band: the state, or, for a cluster, the worst band of its groups and websites. */
type BandInputs =
  | { readonly kind: "cluster"; readonly worst?: string | undefined }
  | {
      readonly kind: keyof typeof BAND_OF;
      readonly state?: string | undefined;
      readonly isPlanned?: boolean | undefined;
    };

/** Returns the worst of these bands; `undefined` if there are none. */
export function worstOf(bands: ReadonlySet<Band | "changing" | undefined>): Band | "changing" | undefined {
  return BANDS.find((band) => bands.has(band));
}
