import { hostsAt, membersIn, type ApplianceSnapshot, type WebsiteSnapshot } from "../fleet/snapshot.ts";
import { elsewhereWords } from "../maintenance/window.ts";
import { groupBy } from "../../support/group-by.ts";
import { count, listed, type Words } from "../../support/text.ts";
import type { Protocol } from "../api/website-test.ts";
import type { RiskKind } from "./states.ts";
import type { ClusterVerdict, OutlookVerdict, Risk } from "./verdict.ts";
import {
  alikeIn,
  differencesBetween,
  standInAt,
  portOf,
  websiteAtMember,
  type Aspect,
  type WebsiteAtMember,
} from "./website-risks.ts";
import { addressName, groupName, NAMED, optionalInstant, serverNames } from "./words.ts";

type OutlookContext = Pick<ClusterVerdict, "facts" | "groups" | "websites" | "planned">;

/**
 * Returns one sentence about the outlook: `If a fails: b takes over 12 addresses and 8 websites`, or about the worst risks, of which it
 * names twelve: `If a fails: shop https is down (503) and blog and news are missing at b`.
 */
export function outlookSentence(outlook: OutlookVerdict, cluster: OutlookContext): string {
  const { identity, state, successors, addresses, websites, risks, decisive } = outlook;
  const name = identity.appliance;
  if (state === "ready") {
    const verb = successors.length > 1 ? "can take over" : "takes over";
    const served = websites === 0 ? "" : ` and ${count(websites, "website")}`;
    return `If ${name} fails: ${listed(successors, NAMED)} ${verb} ${count(addresses, "address", "addresses")}${served}`;
  }
  const worst = risks.filter(({ effect }) => effect === risks[0]?.effect).slice(0, NAMED);
  const more = decisive > worst.length ? `, and ${decisive - worst.length} more` : "";
  return `If ${name} fails: ${riskWords(worst, name, cluster)}${more}`;
}

/**
 * Returns the risks of an appliance's failure in words. Each appliance that lacks something is named once, and so is each reason: `blog and
 * news are missing at b; shop is disabled at c`.
 */
export function riskWords(risks: readonly Risk[], name: string, cluster: OutlookContext): string {
  const clauses = risks.map((risk) => {
    const saying = sayingOf(risk, name, cluster);
    const group = cluster.groups.get(risk.key)?.facts;
    const isVip = group !== undefined && addressName(group.vip, group) === risk.subject;
    const subject = isVip ? groupName(group) : risk.subject;
    return { subject, saying, place: typeof saying === "string" ? ` at ${risk.successor}` : "" };
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

/** Returns the clause about all these subjects, which share the same words. */
function clauseOf(all: readonly { readonly subject: string; readonly saying: Words | string }[]): string {
  const subjects = listed(all.map(({ subject }) => subject));
  const saying = all[0]?.saying ?? "";
  if (typeof saying !== "string") return saying.join(subjects);
  return `${subjects} ${all.length > 1 ? "are" : "is"} ${saying}`;
}

/** Returns the state of the subject at the successor, or the words around the subject's name. */
function sayingOf(
  { risk, successor, subject, key, protocol }: Risk,
  name: string,
  cluster: OutlookContext,
): Words | string {
  const { facts, groups, websites } = cluster;
  const website = websites.get(key);
  const isAll = key === "";
  const here = website && websiteAtMember(website, name);
  const there =
    website &&
    (websiteAtMember(website, successor) ?? standInAt(alikeIn(websites)(website), successor, here));
  const sayings: Readonly<Record<RiskKind, () => Words | string>> = {
    no_backup: () => ["no appliance takes over ", elsewhere(key, name, cluster)],
    backup_lost: () => {
      const group = groups.get(key)?.facts;
      const silent = group === undefined ? [] : membersIn(group, "unknown");
      return ["no appliance takes over ", `, since ${listed(silent)} cannot be polled`];
    },
    backup_unknown: () =>
      successor === ""
        ? ["it is not known which appliance takes over ", ""]
        : [`it is not known whether ${successor} takes over `, ""],
    undecided: () => ["the master of ", " is not certain, so it is not known which appliance takes over"],
    address_missing: () => "missing",
    address_unknown: () =>
      isAll
        ? ["it is not known what is lost: not ", ` interfaces of ${successor || name} can be read`]
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
    website_down: () => `down${statusesOf(testOf(facts.appliances, there), protocol)}`,
    website_unknown: () =>
      isAll
        ? ["it is not known what is lost: not ", ` websites of ${successor || name} are known`]
        : [`it is not known whether ${successor} would serve `, ` like ${name}`],
    website_missing: () =>
      protocol
        ? offeredWords(there, protocol)
        : there === undefined
          ? "missing"
          : `missing (it listens on ${listed(there.known.bind, NAMED)} only)`,
    website_disabled: () => "disabled",
    website_less_protected: () =>
      `less protected (${there?.details?.mode} instead of ${here?.details?.mode})`,
    website_backends_lost: () => "without a usable server",
    website_differs: () => ["", ` differs at ${successor} (${differing(here, there, name, successor)})`],
  };
  return sayings[risk]();
}

/** Returns how a member offers a protocol of a website that has another port elsewhere: `offered at port 8080 only`. */
function offeredWords(there: WebsiteAtMember | undefined, protocol: Protocol): string {
  const port = there && portOf(there, protocol);
  return typeof port === "number" ? `offered at port ${port} only` : "not offered";
}

/** Returns `: b has it under VHID 12` if another group has an address of this one. */
function elsewhere(key: string, name: string, { groups }: OutlookContext): string {
  const own = groups.get(key)?.facts;
  const hosts = own === undefined ? new Set<string>() : hostsAt([own]);
  const others = [...groups.values()].flatMap(({ facts }) => {
    const isShared = facts.key !== key && [...hostsAt([facts])].some((each) => hosts.has(each));
    const members = facts.members.filter(
      ({ appliance, role }) => isShared && role !== "unknown" && appliance !== name,
    );
    return members.map(({ appliance }) => `${appliance} has it under VHID ${facts.vhid}`);
  });
  return others.length === 0 ? "" : `: ${listed(others, NAMED)}`;
}

/** Returns the reason why a website is down by the protocol of a risk: ` (503)`. */
function statusesOf(test: WebsiteSnapshot | undefined, wanted: Risk["protocol"]): string {
  const down = test?.found?.statuses.find(({ protocol, isUp }) => !isUp && protocol === wanted);
  if (down === undefined) return "";
  return ` (${down.status === 0 ? (down.text ?? "no HTTP response") : down.status})`;
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
  { facts, websites }: OutlookContext,
) {
  const members = facts.appliances.filter(
    ({ identity: { appliance } }) => appliance === name || appliance === successor,
  );
  const website = websites.get(key);
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
    return risk === "website_missing" ? list?.lastSuccessAtMs : details?.lastSuccessAtMs;
  });
  return optionalInstant(Math.min(...instants.map((each = Number.NaN) => each)));
}
