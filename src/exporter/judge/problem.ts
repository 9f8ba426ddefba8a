import { PROBLEMS, type ProblemFacts, type ProblemKind } from "./states.ts";
import { optionalInstant, shortened } from "./words.ts";

/** What is wrong with a subject, in one sentence; as the document has it. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly severity: ProblemFacts["severity"];
  readonly summary: string;
  /** What to do, in one sentence. */
  readonly advice: string;
  readonly cluster?: string | undefined;
  /**
   * What it is about, which with the kind identifies it in its cluster: the name of the appliance, the key of the website, or the name of the
   * cluster; absent for the exporter's own troubles.
   */
  readonly subject?: string | undefined;
  readonly appliance?: string | undefined;
  readonly website?: { readonly id: number; readonly name: string } | undefined;
  /** The first of the groups that it concerns. */
  readonly group?:
    | { readonly vhid: number; readonly vip: string; readonly interface?: string | undefined }
    | undefined;
  /** Keys of what it concerns in the cluster, at most 100; absent if that is the whole fleet. */
  readonly keys?: string[] | undefined;
  /** True where a window mutes its alert; absent for all others. */
  readonly isPlanned?: boolean | undefined;
  /** RFC 3339; absent where the exporter did not see the beginning. */
  readonly since?: string | undefined;
  /** RFC 3339, of `not_scheduled`: when the first poll is scheduled that ends it. */
  readonly until?: string | undefined;
}

/** An appliance may be in trouble on a thousand interfaces. */
const MAX_KEYS = 100;

/** A problem before the advice about it is known. */
export type Unadvised = Omit<Problem, "advice">;

/** Returns a list of one problem; `concerned` has its subject and its beginning. */
export function problem(
  kind: ProblemKind,
  summary: string,
  concerned: Partial<Unadvised> = {},
): readonly Unadvised[] {
  const keys = concerned.keys?.slice(0, MAX_KEYS);
  return [{ kind, severity: PROBLEMS[kind].severity, summary: shortened(summary), ...concerned, keys }];
}

/** Returns the earliest beginning; `undefined` if one of them is not known, since that one may be earlier. */
export function earliest(verdicts: readonly { readonly sinceMs: number | undefined }[]): string | undefined {
  return optionalInstant(Math.min(...verdicts.map(({ sinceMs = Number.NaN }) => sinceMs)));
}
