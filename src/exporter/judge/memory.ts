import type { GroupIdentity } from "../fleet/snapshot.ts";
import type { SubjectKind, Trouble, WebsiteState } from "./states.ts";

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
  readonly kind: SubjectKind;
  /** The identity of a group. */
  readonly group?: GroupIdentity;
  /** Whether the appliance is down, and was MASTER until it fell silent. */
  readonly isLostMaster?: boolean;
}

/**
 * What an earlier run of the exporter knew of the subjects of a cluster, until this run has judged them for good, by `subjectKeys`. It
 * precedes what this run has found meanwhile, and is never shown, but for groups that nobody can list. @see rememberedGroups
 */
export type Memory = ReadonlyMap<string, Remembered>;

/** A start that is not over: not everything of the cluster was judged yet. */
export interface Start {
  readonly memory: Memory;
  /** Whether everything was polled, or an hour has passed, so that what is missing is gone. */
  readonly isSettled: boolean;
}

export function isEmpty(memory: Memory | undefined): boolean {
  return memory === undefined || memory.size === 0;
}
