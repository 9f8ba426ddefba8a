import type { Trouble, WebsiteState } from "./states.ts";
import type { JudgedSubject } from "./subjects.ts";

/** What is known of a subject before a verdict on it, by the verdict before or by an earlier run of the exporter. */
export interface Earlier {
  readonly state: string | undefined;
  /** The Unix time in milliseconds at which the state began; `undefined` if that is not known, or if the state may not have lasted. */
  readonly sinceMs?: number | undefined;
  /** Of a group. @see GroupVerdict */
  readonly master?: string | undefined;
  readonly latestMaster?: string | undefined;
  readonly isPreferredMaster?: boolean | undefined;
  readonly trouble?: Trouble | undefined;
  /** Of a website. @see ProtocolVerdict */
  readonly shown?: WebsiteState | undefined;
}

export interface Remembered extends Earlier {
  readonly kind: JudgedSubject["kind"];
}

/**
 * What an earlier run of the exporter knew of the subjects of a cluster that this run has not judged yet, by `subjectKeys`. It precedes what
 * this run has found meanwhile, and is never shown.
 */
export type Memory = ReadonlyMap<string, Remembered>;

export function isEmpty(memory: Memory | undefined): boolean {
  return memory === undefined || memory.size === 0;
}
