/** What the page shows of the past. */
export interface Strips {
  /** Returns the strip of a subject that ends at the Unix time `nowMs`; `undefined` if nothing is known of the subject. */
  strip(of: StripSubject, scale: StripScale, nowMs: number): Strip | undefined;
  /** Returns a text for each file of the journal whose past is not known as a whole. */
  damages(): readonly string[];
}

/** The length of the time that a strip shows: 24 hours, or 30 days. */
export type StripScale = "day" | "month";

/** A subject with a strip; `exporter` is the exporter itself, which is up while it judges. */
export type StripSubject =
  | { readonly kind: "exporter" }
  | { readonly kind: "cluster"; readonly cluster: string }
  | {
      readonly kind: "group";
      readonly cluster: string;
      readonly vhid: number;
      readonly vip: string;
      readonly interface?: string | undefined;
    }
  | {
      readonly kind: "website";
      readonly cluster: string;
      readonly id: number;
      readonly name: string;
      readonly protocol: "http" | "https" | "";
    };

/** The states of a subject in a time: some bins that end now, and exact sums. */
export interface Strip {
  readonly bins: readonly ("down" | "unknown" | "planned" | "impaired" | "up")[];
  /** The Unix time at which the first bin begins; `binMs` is the length of each. */
  readonly beginMs: number;
  readonly binMs: number;
  readonly upMs: number;
  readonly downMs: number;
  /** The number of outages in this time, including one that began before. */
  readonly downs: number;
  readonly plannedMs: number;
  /** The Unix time from which the subject is known; `unknownMs` is the unknown part of the time since then. */
  readonly sinceMs: number;
  readonly unknownMs: number;
  /** The part of `unknownMs` in which the subject was watched, and nobody answered. */
  readonly unansweredMs: number;
}
