import type { VrrpInterface } from "../api/vrrp.ts";
import type { Backend, Backends } from "../api/website-details.ts";
import { meaningOf, type FailureReason } from "../api/failure.ts";
import { contendersIn, membersIn, type GroupIdentity } from "../fleet/snapshot.ts";
import { count, listed, type Words } from "../../support/text.ts";
import type { GroupState } from "./states.ts";
import type { GroupVerdict } from "./verdict.ts";

/** The most groups, websites or servers that a sentence names. */
export const NAMED = 12;

type Server = Pick<Backend, "address"> & Partial<Backend>;

/**
 * Returns the servers behind a website: `192.0.2.81:8080 ok and 192.0.2.82:8080 (backup) error`; `undefined` if they are not known.
 * `leftOut` is the number of others.
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

/** Returns `servers 192.0.2.81:8080 and 192.0.2.82:8080`, each once, in alphabetical order. */
export function serverNames({ shown, leftOut }: Pick<Backends, "shown" | "leftOut">): string {
  const names = [...new Set(shown.map(({ address }) => address.toLowerCase()))].toSorted();
  return `servers ${listed(names, NAMED, names.length + leftOut)}`;
}

const MAX_SENTENCE = 2000;

/** Cuts a sentence to the given number of characters, by default 2,000, since names that appliances give may be long. */
export function shortened(sentence: string, most = MAX_SENTENCE): string {
  if (sentence.length <= most) return sentence;
  // A character may consist of two units.
  return `${sentence.slice(0, most - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

/** Formats Unix time in milliseconds as RFC 3339 in UTC. */
export function instantOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Formats an instant; returns `undefined` for an unknown one. */
export function optionalInstant(atMs: number | undefined): string | undefined {
  return atMs === undefined || Number.isNaN(atMs) ? undefined : instantOf(atMs);
}

/** Returns `192.0.2.100 (vhid 2)`, and `fe80::1 (vhid 1, vlan10)` where a link tells groups apart. */
export function groupName({ vhid, vip, interface: name = "" }: GroupIdentity): string {
  return `${vip} (vhid ${[vhid, name].filter((part) => part !== "").join(", ")})`;
}

/** Returns `carp0, 192.0.2.100 (vhid 2)`. */
export function interfaceName({ name, vhid, vip }: Pick<VrrpInterface, "name" | "vhid" | "vip">): string {
  return `${name}, ${groupName({ vhid, vip })}`;
}

/** Returns the identity of a group as documents name it. */
export function groupRef({ vhid, vip, interface: name }: GroupIdentity) {
  return { vhid, vip, interface: name || undefined };
}

/** Returns the name of an address of a group where no VHID is shown: `192.0.2.100`, or `fe80::1 (vlan10)`. */
export function addressName(
  address: string,
  { interface: name = "" }: Pick<GroupIdentity, "interface">,
): string {
  return name === "" ? address : `${address} (${name})`;
}

/** Returns `vlan10 of a and lan0 of b`. */
function interfacesOf({ members }: GroupVerdict["facts"]): string {
  const names = members.flatMap(({ appliance, interfaces }) =>
    interfaces.map((name) => `${name} of ${appliance}`),
  );
  return listed(names, NAMED);
}

/** Returns `2 masters: a, b`. */
export function mastersInWords(names: readonly string[]): string {
  return `${count(names.length, "master")}: ${names.join(", ")}`;
}

/** Describes a group in trouble. `why` has the reasons why its silent members cannot be polled. */
export function groupWords({ facts, state, master = "" }: GroupVerdict, why = ""): Words {
  const [silent, masters] = [listed(membersIn(facts, "unknown")), contendersIn(facts, "master")];
  const silence = `since ${silent} cannot be polled${why && `: ${why}`}`;
  const words: Readonly<Record<GroupState, Words>> = {
    split_brain: [`Split brain: ${listed(masters)} are MASTER of `, ""],
    no_master: ["No appliance is MASTER of ", ""],
    unknown: !facts.isOneLink
      ? [
          "It is not known on which link each interface with ",
          ` is (${interfacesOf(facts)}): interfaces on one link need the same name or device at all appliances`,
        ]
      : masters.length === 0
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

/** Returns the id of a website at an appliance, if that appliance tests it. */
export function idAt(
  { id, ids }: { readonly id: number; readonly ids?: Readonly<Record<string, number>> | undefined },
  appliance: string,
): number | undefined {
  return ids === undefined ? id : ids[appliance];
}

/** Returns a website's status code, or the appliance's text if there is none; if the status is not certain, the reason. */
export function statusText(status: number | undefined, text?: string): string {
  if (status === undefined) return `not known: ${text}`;
  if (status !== 0) return String(status);
  return text === undefined ? "no HTTP response" : `no HTTP response (${text})`;
}

const NO_ANSWER_OF_HTTP = "what answers does not speak HTTP";
const UNREADABLE_PASSWORD = "the password file cannot be read";
const NO_POLL = "no poll is scheduled for now";
const NO_RESOURCES =
  "the exporter or its host is out of descriptors, memory, time or slots, or cannot read a file";
const BUG = "a bug in the exporter";

/** The reasons, as they are said of one appliance, and of several. */
const REASON_IN_WORDS: Readonly<Record<FailureReason, readonly [one: string, several: string]>> = {
  dns: ["its name does not resolve", "their names do not resolve"],
  connect: ["it cannot be reached", "they cannot be reached"],
  tls: ["its certificate is not trusted, or TLS fails", "their certificates are not trusted, or TLS fails"],
  timeout: ["it does not answer in time", "they do not answer in time"],
  auth: ["it refuses the credentials", "they refuse the credentials"],
  http_status: ["it answers with an error", "they answer with an error"],
  protocol: [NO_ANSWER_OF_HTTP, NO_ANSWER_OF_HTTP],
  too_large: ["its answer is too large", "their answers are too large"],
  decode: ["its answer cannot be decoded", "their answers cannot be decoded"],
  unsupported: ["the appliance lacks this operation", "the appliances lack this operation"],
  vip: [
    "its base_url leads to a VIP or alias, where whichever appliance is MASTER answers; use its own address",
    "each base_url leads to a VIP or alias, where whichever appliance is MASTER answers; use their own addresses",
  ],
  proxy: ["the proxy does not connect to it", "the proxy does not connect to them"],
  secret: [UNREADABLE_PASSWORD, UNREADABLE_PASSWORD],
  appliance_down: ["the appliance is down", "the appliances are down"],
  stalled: ["the exporter has stopped polling it", "the exporter has stopped polling them"],
  not_scheduled: [NO_POLL, NO_POLL],
  local: [NO_RESOURCES, NO_RESOURCES],
  internal: [BUG, BUG],
};
const WAS_AWAY = [
  "it was out of reach at the latest poll",
  "they were out of reach at the latest poll",
] as const;

interface ReasonOptions {
  /** Whether the appliance answers now, which may be later than the latest poll of the operation. */
  readonly isUp?: boolean;
  /** Whether the reason is that of several appliances. */
  readonly isPlural?: boolean;
}

/** Returns why an operation fails, for people, with the reason in the word of the metrics. */
export function reasonInWords(
  reason: FailureReason,
  { isUp = false, isPlural = false }: ReasonOptions = {},
): string {
  const wasAway = isUp && (reason === "appliance_down" || meaningOf(reason).isCutOff === true);
  const [one, several] = wasAway ? WAS_AWAY : REASON_IN_WORDS[reason];
  return `${isPlural ? several : one} (${reason})`;
}
