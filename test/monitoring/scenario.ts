import type { Exporter, Labels, Steps } from "./world.ts";

/** An alert that fires. Seconds are counted from the event, without what scrapes and evaluations add. */
export interface Expected {
  readonly alert: string;
  readonly labels: Labels;
  /** Fires after so long. */
  readonly after: number;
  /** Has ended after so long. Default: not checked. */
  readonly until?: number;
}

export interface Scenario {
  readonly name: string;
  /** The event is at second `EVENT`. Judging whole courses takes seconds, so it waits until somebody asks. */
  readonly exporters: readonly Exporter[] | (() => Promise<readonly Exporter[]>);
  /** All alerts that fire at any time. */
  readonly expected: readonly Expected[];
  /** The name of another alert, which may fire if scrapes are lost. */
  readonly ifScrapesAreLost?: string;
  readonly lastsSeconds: number;
  /** Of scrapes and of evaluations, in seconds. Default: any. */
  readonly intervals?: readonly number[];
  /** Seconds between evaluations, where it lasts too long for one at each scrape. */
  readonly evaluatedEvery?: number;
}

export async function exportersIn({ exporters }: Scenario): Promise<readonly Exporter[]> {
  return typeof exporters === "function" ? exporters() : exporters;
}

/** Second of the event in each scenario: as much history as the rules look at. */
export const EVENT = 360;

/** First this, and from seconds after the event on others. */
export function at<const Value>(
  first: Value,
  ...then: readonly (readonly [after: number, value: Value | undefined])[]
): Steps<Value> {
  return [[0, first], ...then.map(([after, value]) => [EVENT + after, value] as const)];
}

export function alert(name: string, labels: Labels, after: number, more: Partial<Expected> = {}): Expected {
  return { alert: name, labels, after, ...more };
}
