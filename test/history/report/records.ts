import type { JournalRecord, RunRecord, SubjectRecord } from "../../../src/history/journal/record.ts";
import { instantOf } from "../../../src/exporter/judge/words.ts";

/** Instants are seconds after this one. */
export const START = Date.parse("2026-10-01T00:00:00.000Z");

const at = (seconds: number): string => instantOf(START + seconds * 1000);

export function run(seconds: number, why: RunRecord["why"]): RunRecord {
  return { at: at(seconds), kind: "run", v: 1, why, version: "1.0.0", shard: "0/1" };
}

export function alive(seconds: number): JournalRecord {
  return { at: at(seconds), kind: "alive" };
}

export function lost(seconds: number): JournalRecord {
  return { at: at(seconds), kind: "lost", cluster: "ams" };
}

export function group(seconds: number, state?: string, vip = "192.0.2.100"): SubjectRecord {
  return { at: at(seconds), kind: "group", cluster: "ams", vhid: 2, vip, state };
}

export function website(seconds: number, state?: string, name = "shop"): SubjectRecord {
  const identity = { kind: "website", cluster: "ams", id: 1, name, protocol: "https" } as const;
  return { at: at(seconds), ...identity, address: "shop.example:443", state };
}

/** The same while planned work mutes the alert about it. */
export function planned(record: SubjectRecord): SubjectRecord {
  const canBe = record.kind === "group" || record.kind === "website";
  return canBe ? { ...record, isPlanned: true } : record;
}

export function readiness(seconds: number, state: string, appliance: string): SubjectRecord {
  return { at: at(seconds), kind: "readiness", cluster: "ams", appliance, state };
}

interface FailoverFields {
  readonly cluster?: string;
  readonly from?: string;
  readonly to?: string;
  readonly summary?: string;
  /** The id of the incident that it includes. */
  readonly includes?: string;
}

/** The incident of a failover. */
export function failedOver(
  seconds: number,
  id: string,
  { cluster = "ams", from = "a", to = "b", summary = `${to} took over`, includes }: FailoverFields = {},
): JournalRecord {
  const repeated = { count: 3, periodSeconds: 20, includes: includes ?? "" };
  return {
    at: at(seconds),
    kind: "incident",
    cluster,
    incident: {
      id,
      kind: "failover",
      begin: at(seconds),
      summary,
      severity: "warning",
      cluster,
      subjects: ["192.0.2.100 (vhid 2)"],
      failover: {
        from,
        to,
        cause: "silent",
        evidence: [],
        addresses: 1,
        isPartial: false,
        ...(includes === undefined ? {} : { repeated }),
      },
    },
  };
}
