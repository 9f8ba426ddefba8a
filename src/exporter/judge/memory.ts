import type { GroupIdentity } from "../fleet/snapshot.ts";
import type { SubjectKind, Trouble, WebsiteState } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import type { LatestBackends } from "./verdict.ts";

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
  readonly kind: SubjectKind | "backends";
  /** The identity of a group. */
  readonly group?: GroupIdentity;
  /** Whether the appliance is down, and was MASTER until it fell silent. */
  readonly isLostMaster?: boolean;
  /** The servers behind a website that were in trouble: its `key`, and their latest known state. */
  readonly servers?: { readonly website: string; readonly latest: LatestBackends };
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

/** Returns what is remembered of the servers behind a website, by its `key`. */
export function serversIn(memory: Memory | undefined, website: string): LatestBackends | undefined {
  return memory?.get(subjectKeys.backends(website))?.servers?.latest;
}

export function isEmpty(memory: Memory | undefined): boolean {
  return memory === undefined || memory.size === 0;
}
