import type { Backend, Backends } from "../api/website-details.ts";
import type { FailureReason } from "../client/failure.ts";
import { contendersIn, membersIn } from "../fleet/snapshot.ts";
import { listed, type Words } from "../support/text.ts";
import type { GroupState } from "./states.ts";
import type { GroupVerdict } from "./verdict.ts";

/** A sentence names so many groups, websites or servers. */
export const NAMED = 12;

type Server = Pick<Backend, "address"> & Partial<Backend>;

/**
 * The servers behind a website: `192.0.2.81:8080 ok and 192.0.2.82:8080 (backup) error`; `undefined`: not known. `leftOut`: how
 * many others there are.
 */
export function describeServers(servers: readonly Server[] | undefined, leftOut = 0): string {
  if (servers === undefined) return "servers unknown";
  if (servers.length === 0) return "no server";
  return listed(servers.map(describeServer), NAMED, servers.length + leftOut);
}

function describeServer({ address, role, isOk }: Server): string {
  const state = isOk === undefined ? "unknown" : isOk ? "ok" : "error";
  return `${address} ${role === "active" ? "" : `(${role ?? "unknown role"}) `}${state}`;
}

/** `servers 192.0.2.81:8080 and 192.0.2.82:8080`, each once, in alphabetical order. */
export function serverNames({ shown, leftOut }: Pick<Backends, "shown" | "leftOut">): string {
  const names = [...new Set(shown.map(({ address }) => address.toLowerCase()))].toSorted();
  return `servers ${listed(names, NAMED, names.length + leftOut)}`;
}

const MAX_SENTENCE = 2000;

/** At most so many characters, by default 2,000: names that appliances give may be long. */
export function shortened(sentence: string, most = MAX_SENTENCE): string {
  if (sentence.length <= most) return sentence;
  // A character may consist of two units.
  return `${sentence.slice(0, most - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

/** Unix time in milliseconds as RFC 3339 in UTC. */
export function instantOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** `undefined` for what is not known. */
export function optionalInstant(atMs: number | undefined): string | undefined {
  return atMs === undefined || Number.isNaN(atMs) ? undefined : instantOf(atMs);
}

export function groupName({ vhid, vip }: { readonly vhid: number; readonly vip: string }): string {
  return `${vip} (vhid ${vhid})`;
}

/** Describes a group in trouble. `why`: the reasons why its silent members cannot be polled. */
export function groupWords({ facts, state, master = "" }: GroupVerdict, why = ""): Words {
  const [silent, masters] = [listed(membersIn(facts, "unknown")), contendersIn(facts, "master")];
  const silence = `since ${silent} cannot be polled${why && `: ${why}`}`;
  const words: Readonly<Record<GroupState, Words>> = {
    split_brain: [`Split brain: ${listed(masters)} are MASTER of `, ""],
    no_master: ["No appliance is MASTER of ", ""],
    unknown:
      masters.length === 0
        ? ["The master of ", ` is unknown, ${silence}`]
        : [
            `Split brain: ${listed(contendersIn(facts, "unknown"))} cannot be polled and may still be MASTER beside ${masters[0]} of `,
            "",
          ],
    no_backup: [`${master} is MASTER of `, ", and no appliance is BACKUP"],
    backup_lost: [`${master} is MASTER of `, `, and its backup is lost, ${silence}`],
    backup_unknown: [`${master} is MASTER of `, `, and its backup is not known, ${silence}`],
    unwatched: ["The master of ", " is not known: it may be a disabled appliance"],
    changing: ["The master is changing of ", ""],
    one_master: [`${master} is MASTER of `, ", and is not the preferred member"],
  };
  return words[state ?? "one_master"];
}

/** The id of a website at an appliance, if it tests it. */
export function idAt(
  { id, ids }: { readonly id: number; readonly ids?: Readonly<Record<string, number>> | undefined },
  appliance: string,
): number | undefined {
  return ids === undefined ? id : ids[appliance];
}

/** A website's status code, and the appliance's own words where there is none. */
export function statusText(status: number, text?: string): string {
  if (status !== 0) return String(status);
  return text === undefined ? "no HTTP response" : `no HTTP response (${text})`;
}

const REASON_IN_WORDS: Readonly<Record<FailureReason, string>> = {
  dns: "its name does not resolve",
  connect: "it cannot be reached",
  tls: "its certificate is not trusted, or TLS fails",
  timeout: "it does not answer in time",
  auth: "it refuses the credentials",
  http_status: "it answers with an error",
  protocol: "what answers does not speak HTTP",
  too_large: "its answer is too large",
  decode: "its answer cannot be decoded",
  unsupported: "the appliance lacks this operation",
  proxy: "the proxy does not connect to it",
  secret: "the password file cannot be read",
  appliance_down: "the appliance is down",
  stalled: "the exporter has stopped polling it",
  local: "the exporter or its host is out of descriptors, memory, time or slots, or cannot read a file",
  internal: "a bug in the exporter",
};

/** Why an operation fails, for people, and the reason as the metrics have it. */
export function reasonInWords(reason: FailureReason): string {
  return `${REASON_IN_WORDS[reason]} (${reason})`;
}
