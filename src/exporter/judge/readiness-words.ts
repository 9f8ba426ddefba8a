import {
  hostsAt,
  type ApplianceSnapshot,
  type GroupSnapshot,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { elsewhereWords } from "../maintenance/window.ts";
import { groupBy } from "../../support/group-by.ts";
import { count, listed, type Words } from "../../support/text.ts";
import { minuteInUtc } from "../../support/time-zone.ts";
import { isKnownState, type Restraint } from "../api/vrrp.ts";
import type { Protocol } from "../api/website-test.ts";
import { mayTakeOver } from "./group-readiness.ts";
import { RISKS, type RiskKind } from "./states.ts";
import type { ClusterVerdict, ReadinessVerdict, Risk } from "./verdict.ts";
import {
  alikeIn,
  differencesBetween,
  standInAt,
  portOf,
  protocolAt,
  websiteAtMember,
  type Aspect,
  type WebsiteAtMember,
} from "./website-risks.ts";
import {
  addressName,
  FEW,
  groupName,
  optionalInstant,
  reasonInWords,
  serverNames,
  statusText,
} from "./words.ts";

type ReadinessContext = Pick<ClusterVerdict, "facts" | "groups" | "websites" | "planned">;

/**
 * Returns one sentence about the readiness: `If a fails, b takes over 12 addresses and 8 websites`, or about the worst risks, of which it
 * names three: `If a fails, blog and news are missing and shop https is lost: 503 at b, and 4 more`.
 */
export function readinessSentence(readiness: ReadinessVerdict, cluster: ReadinessContext): string {
  const { identity, state, successors, addresses, websites, risks, decisive } = readiness;
  const name = identity.appliance;
  if (state === "ready") {
    const verb = successors.length > 1 ? "can take over" : "takes over";
    const served = websites === 0 ? "" : ` and ${count(websites, "website")}`;
    return `If ${name} fails, ${listed(successors, FEW)} ${verb} ${count(addresses, "address", "addresses")}${served}`;
  }
  const worst = risks.filter(({ effect }) => effect === risks[0]?.effect).slice(0, FEW);
  const more = decisive > worst.length ? `, and ${decisive - worst.length} more` : "";
  return `If ${name} fails, ${riskWords(worst, name, cluster)}${more}`;
}

/**
 * Returns the risks of an appliance's failure in words. Each appliance that lacks something is named once, and so is each reason: `blog and
 * news are missing at b; shop is disabled at c`.
 */
export function riskWords(risks: readonly Risk[], name: string, cluster: ReadinessContext): string {
  const clauses = risks.map((risk): Clause => {
    const saying = sayingOf(risk, name, cluster);
    const place = typeof saying === "string" ? ` at ${risk.successor}` : "";
    return { risk, subject: subjectOf(risk, name, cluster), saying, place };
  });
  const sentences = Array.from(
    groupBy(clauses, ({ place }) => place),
    ([place, here]) => {
      const alike = groupBy(here, ({ saying }) => JSON.stringify(saying));
      return `${listed(Array.from(alike.values(), clauseOf))}${place}`;
    },
  );
  return sentences.join("; ");
}

interface Clause {
  readonly risk: Risk;
  readonly subject: string;
  readonly saying: Words | string;
  readonly place: string;
}

/** Returns the name of what a risk concerns; where nobody takes over a group, with the number of its other addresses. `all` is the appliance. */
function subjectOf(
  { risk, subject, key, successor }: Risk,
  name: string,
  { groups }: ReadinessContext,
): string {
  // What is not known of several appliances is one clause.
  if (key === "" && RISKS[risk] === "uncertain") return successor || name;
  const group = groups.get(key)?.facts;
  if (group === undefined || addressName(group.vip, group) !== subject) return subject;
  const own = group.members.find(({ appliance, role }) => appliance === name && role === "master");
  const others = new Set(own?.addresses ?? group.aliases);
  others.delete(group.vip);
  const isWhole = RISKS[risk] === "outage" || (RISKS[risk] === "uncertain" && successor === "");
  const more =
    isWhole && others.size > 0 ? ` with ${count(others.size, "more address", "more addresses")}` : "";
  return `${groupName(group)}${more}`;
}

/** Returns the clause about all these subjects, which share the same words. The protocols of a website follow its name. */
function clauseOf(all: readonly Clause[]): string {
  const byName = groupBy(all, ({ subject, risk: { protocol } }) =>
    protocol ? subject.slice(0, -` ${protocol}`.length) : subject,
  );
  const names = Array.from(byName, ([name, same]) => {
    const protocols = same.flatMap(({ risk: { protocol } }) => protocol || []);
    return protocols.length === 0 ? name : `${name} ${listed(protocols)}`;
  });
  const subjects = listed(names);
  const saying = all[0]?.saying ?? "";
  if (typeof saying !== "string") return saying.join(subjects);
  return `${subjects} ${all.length > 1 ? "are" : "is"} ${saying}`;
}

/** Returns the state of the subject at the successor, or the words around the subject's name. */
function sayingOf(
  { risk, successor, subject, key, protocol }: Risk,
  name: string,
  cluster: ReadinessContext,
): Words | string {
  const { facts, groups, websites } = cluster;
  const website = websites.get(key);
  const isAll = key === "";
  const here = website && websiteAtMember(website, name);
  const alike = website === undefined ? [] : alikeIn(websites)(website);
  const there = website && (websiteAtMember(website, successor) ?? standInAt(alike, successor, here));
  const ofProtocol = website && protocol && protocolAt([website, ...alike], successor, here, protocol);
  const serving = ofProtocol || there;
  const sayings: Readonly<Record<RiskKind, () => Words | string>> = {
    no_backup: () => ["no appliance takes over ", `: ${listed(obstacles(key, name, cluster), FEW)}`],
    backup_lost: () => ["no appliance takes over ", `: ${listed(obstacles(key, name, cluster), FEW)}`],
    backup_unknown: () => {
      const group = groups.get(key)?.facts;
      const candidates = successor === "" ? (group?.members ?? []).filter(mayTakeOver) : [];
      const [only = { appliance: successor }, ...others] = candidates;
      return [
        others.length > 0
          ? "it is not known which appliance takes over "
          : `it is not known whether ${only.appliance} takes over `,
        `: ${listed(obstacles(key, name, cluster, successor), FEW)}`,
      ];
    },
    takes_nothing_over: () => {
      const member = groups.get(key)?.facts.members.find(({ appliance }) => appliance === successor);
      const why = member?.restraint === undefined ? "" : `: ${RESTRAINT_WORDS[member.restraint]}`;
      return [`${successor} does not take over `, why];
    },
    undecided: () => ["the master of ", " is not certain, so it is not known which appliance takes over"],
    address_missing: () => "missing",
    address_unknown: () =>
      isAll
        ? ["it is not known what is lost: not all interfaces of ", " can be read"]
        : [`it is not known whether ${successor} has all addresses of `, ""],
    planned_elsewhere: () => {
      const window = cluster.planned?.elsewhere.find(
        (each) => each.identity.appliance === name && each.window.id === subject,
      );
      const words = window === undefined ? "" : elsewhereWords(window);
      return [words.slice(0, words.length - subject.length), ""];
    },
    same_priority: () => [`${successor} has the same priority as another member of `, ""],
    two_preferred: () => ["more than one member is configured as FAILOVER MASTER of ", ""],
    website_down: () => `lost${reasonOf(testOf(facts.appliances, serving), protocol)}`,
    website_unknown: () => {
      if (!isAll && successor === "")
        return ["it is not known what is lost with ", ` of ${name}, beyond the limit of website discovery`];
      return isAll
        ? ["it is not known what is lost: not all websites of ", " are known"]
        : [`it is not known whether ${successor} would serve `, ` like ${name}`];
    },
    website_missing: () =>
      protocol
        ? offeredWords(there, protocol)
        : there === undefined
          ? "missing"
          : `missing (it listens on ${listed(there.known.bind, FEW)} only)`,
    website_disabled: () => "disabled",
    website_less_protected: () =>
      `less protected (${serving?.details?.mode} instead of ${here?.details?.mode})`,
    website_backends_lost: () => "without a usable server",
    website_differs: () => ["", ` differs at ${successor} (${differing(here, there, name, successor)})`],
  };
  return sayings[risk]();
}

const RESTRAINT_WORDS: Readonly<Record<Restraint, string>> = {
  maintenance_mode: "it is in maintenance mode",
  carp_disabled: "CARP is disabled there",
};

/** Returns how a member offers a protocol of a website that has another port elsewhere: `offered at port 8080 only`. */
function offeredWords(there: WebsiteAtMember | undefined, protocol: Protocol): string {
  const port = there && portOf(there, protocol);
  return typeof port === "number" ? `offered at port ${port} only` : "not offered";
}

/** Returns why the other members, or one of them, are not known to take over a group: `b reports FAULT`, `c has no such group`. */
function obstacles(
  key: string,
  name: string,
  { facts: { appliances }, groups }: ReadinessContext,
  only = "",
): readonly string[] {
  const group = groups.get(key)?.facts;
  if (group === undefined) return [];
  return appliances.flatMap(({ identity: { appliance }, vrrp: { health } }) => {
    const member = group.members.find((each) => each.appliance === appliance);
    if (appliance === name || member?.role === "backup" || (only !== "" && appliance !== only)) return [];
    if (member === undefined) return withoutGroup(appliance, group, groups);
    const { state } = member;
    if (member.role === "other")
      return `${appliance} reports ${isKnownState(state) ? state : `the unknown state ${state}`}`;
    if (health.state === "pending") return `${appliance} was not polled yet`;
    if (health.failure === undefined) return `${appliance} reports what cannot be read`;
    const since = health.failingSinceMs === undefined ? "" : ` since ${minuteInUtc(health.failingSinceMs)}`;
    return `${appliance} cannot be polled${since}: ${reasonInWords(health.failure.reason)}`;
  });
}

/** Returns `c has no such group`, or under which VHID a member has an address of the group. */
function withoutGroup(appliance: string, group: GroupSnapshot, groups: ClusterVerdict["groups"]): string {
  const hosts = hostsAt([group]);
  const elsewhere = Array.from(groups.values(), ({ facts }) => facts).find(
    (facts) =>
      facts.key !== group.key &&
      facts.members.some((each) => each.appliance === appliance && each.role !== "unknown") &&
      [...hostsAt([facts])].some((each) => hosts.has(each)),
  );
  return elsewhere === undefined
    ? `${appliance} has no such group`
    : `${appliance} has it under VHID ${elsewhere.vhid}`;
}

/** Returns the reason why a website is down by the protocol of a risk: `: 503`. */
function reasonOf(test: WebsiteSnapshot | undefined, wanted: Risk["protocol"]): string {
  const down = test?.found?.statuses.find(({ protocol, isUp }) => !isUp && protocol === wanted);
  if (down === undefined) return "";
  return `: ${statusText(down.status, down.text)}`;
}

function testOf(
  appliances: readonly ApplianceSnapshot[],
  website: WebsiteAtMember | undefined,
): WebsiteSnapshot | undefined {
  const { identity, websiteId } = website?.known ?? {};
  return appliances
    .find((each) => each.identity.appliance === identity?.appliance)
    ?.websites.find((test) => test.websiteId === websiteId);
}

const ASPECT_WORDS: Readonly<Record<Aspect, (website: WebsiteAtMember) => string>> = {
  protocol: ({ details }) => `protocol ${details?.protocol}`,
  mode: ({ details }) => `mode ${details?.mode}`,
  backends: ({ details }) => serverNames(details?.backends ?? { shown: [], leftOut: 0 }),
};

function differing(
  here: WebsiteAtMember | undefined,
  there: WebsiteAtMember | undefined,
  name: string,
  successor: string,
): string {
  if (here === undefined || there === undefined) return `${name} lacks it`;
  const aspects = differencesBetween(here, there);
  if (aspects.length === 0) return `disabled at ${name}`;
  const differences = aspects.map(
    (aspect) => `${ASPECT_WORDS[aspect](here)} at ${name}, ${ASPECT_WORDS[aspect](there)} at ${successor}`,
  );
  return differences.join("; ");
}

/** Returns the instant of the older of the answers from which a risk follows; `undefined` if one is missing. */
export function evidenceAt(
  { risk, successor, key }: Risk,
  name: string,
  { facts, websites }: ReadinessContext,
) {
  const members = facts.appliances.filter(
    ({ identity: { appliance } }) => appliance === name || appliance === successor,
  );
  const website = successor === "" ? undefined : websites.get(key);
  const instants = members.map((member) => {
    if (website === undefined && risk !== "website_unknown") return member.vrrp.health.lastSuccessAtMs;
    const { list, details } = member.discovery ?? {};
    const here = website && websiteAtMember(website, name);
    const atMember =
      website &&
      (websiteAtMember(website, member.identity.appliance) ??
        standInAt(alikeIn(websites)(website), member.identity.appliance, here));
    const isTest = risk === "website_down" || risk === "website_unknown";
    const test = isTest ? testOf(facts.appliances, atMember) : undefined;
    if (test !== undefined) return test.health.lastSuccessAtMs;
    const isBeyondLimit = successor === "" && key !== "";
    return risk === "website_missing" || isBeyondLimit ? list?.lastSuccessAtMs : details?.lastSuccessAtMs;
  });
  return optionalInstant(Math.min(...instants.map((each = Number.NaN) => each)));
}
