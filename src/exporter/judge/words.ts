import type { VrrpInterface } from "../api/vrrp.ts";
import type { Backend, Backends } from "../api/website-details.ts";
import { meaningOf, type FailureReason } from "../api/failure.ts";
import { contendersIn, type GroupIdentity } from "../fleet/snapshot.ts";
import { count, listed, type Words } from "../../support/text.ts";
import { secondInUtc } from "../../support/time-zone.ts";
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

/** The most names in a sentence about a problem, which has to be read in a moment. */
export const FEW = 3;

/** Returns `192.0.2.100`, or `192.0.2.100 and 2 more VIPs`. */
export function vipsNamed([first = "none", ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${count(others.length, "more VIP")}`;
}

/** Returns why appliances cannot be polled: `b does not answer in time (timeout)`, `the names: ` in front of what is not said of them. */
export function silence(names: readonly string[], reason: FailureReason): string {
  const isPlural = names.length > 1;
  const words = reasonInWords(reason, { isPlural });
  const said = /^(?:it|they) (.*)$/s.exec(words)?.[1];
  const all = listed(names, FEW);
  return said === undefined ? `${all}: ${words}` : `${all} ${said}`;
}

/** What sentences about a group need to know besides the verdict on it. */
interface GroupFacts {
  /** Why its silent members cannot be polled; empty if all of them answer. @see silence */
  readonly why: string;
  /** The Unix time in milliseconds at which its latest master was last seen, if that one is silent. */
  readonly masterUntilMs: number | undefined;
}

/** Returns what is known of a former master whose state is not known, after its name. */
function sinceThen(name: string, why: string): string {
  if (why === "") return "reports what cannot be read";
  if (why.startsWith(`${name} `)) return why.slice(name.length + 1);
  return why.startsWith(`${name}: `) ? `is not polled${why.slice(name.length)}` : `is not polled: ${why}`;
}

/** Returns the words about a group in trouble, around its VIPs. */
export function groupWords(
  { facts, state, master = "", latestMaster = "" }: GroupVerdict,
  { why, masterUntilMs }: GroupFacts,
): Words {
  const masters = contendersIn(facts, "master");
  const reason = why === "" ? "what a member reports cannot be read" : why;
  const unknown: Words =
    masterUntilMs === undefined
      ? ["Who is MASTER of ", ` is not known: ${reason}`]
      : [
          `${latestMaster}, MASTER of `,
          ` until ${secondInUtc(masterUntilMs)}, ${sinceThen(latestMaster, why)}`,
        ];
  const words: Readonly<Record<GroupState, Words>> = {
    split_brain: [`${listed(masters, FEW)} are ${masters.length > 2 ? "all" : "both"} MASTER of `, ""],
    no_master: ["Nobody is MASTER of ", ""],
    unknown: !facts.isOneLink
      ? [
          "It is not known on which link each interface with ",
          ` is (${interfacesOf(facts)}): interfaces on one link need the same name or device at all appliances`,
        ]
      : masters.length === 0
        ? unknown
        : [`${listed(masters, FEW)} is MASTER of `, `, and another member may still be: ${reason}`],
    no_backup: [`${master} is MASTER of `, " without a backup: no other member is BACKUP"],
    backup_lost: [`${master} is MASTER of `, ` without a backup: ${reason}`],
    backup_unknown: [`${master} is MASTER of `, `, and it is not known whether it has a backup: ${reason}`],
    unwatched: ["Who is MASTER of ", " is not known: it may be an appliance that nobody polls"],
    changing: ["The MASTER of ", " is changing"],
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
    "its base URL leads to a VIP or alias, where whichever appliance is MASTER answers; use its own address",
    "each base URL leads to a VIP or alias, where whichever appliance is MASTER answers; use their own addresses",
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

/** Returns why an operation fails, for people, with the reason as the metrics call it, but in words. */
export function reasonInWords(
  reason: FailureReason,
  { isUp = false, isPlural = false }: ReasonOptions = {},
): string {
  const wasAway = isUp && (reason === "appliance_down" || meaningOf(reason).isCutOff === true);
  const [one, several] = wasAway ? WAS_AWAY : REASON_IN_WORDS[reason];
  return `${isPlural ? several : one} (${reason.replaceAll("_", " ")})`;
}
