import type { ApplianceSnapshot, WebsiteSnapshot } from "../fleet/snapshot.ts";
import { listed } from "../support/text.ts";
import type { RiskKind } from "./states.ts";
import type { ClusterVerdict, FailoverVerdict, Risk } from "./verdict.ts";
import { differencesBetween, sideOf, type Aspect, type Side } from "./website-risks.ts";
import { groupName, NAMED, serverNames, statusText } from "./words.ts";

type Cluster = Pick<ClusterVerdict, "facts" | "groups" | "websites">;

/** What would happen, in one sentence: `If a fails: b takes over 12 addresses and 8 websites`. */
export function failoverSentence(failover: FailoverVerdict, cluster: Cluster): string {
  const { identity, state, successors, addresses, websites, risks, decisive } = failover;
  const name = identity.appliance;
  const heirs = listed(successors, NAMED);
  if (state === "ready") {
    const served = websites === 0 ? "" : ` and ${counted(websites, "website")}`;
    const verb = successors.length > 1 ? "take" : "takes";
    return `If ${name} fails: ${heirs} ${verb} over ${counted(addresses, "address", "addresses")}${served}`;
  }
  const [worst] = risks;
  const words = risks
    .filter(({ effect }) => effect === worst?.effect)
    .map((risk) => riskWords(risk, name, cluster));
  const all = listed(words, NAMED, decisive);
  return state === "unknown" ? `If ${name} fails: not known: ${all}` : `If ${name} fails: ${all}`;
}

function counted(count: number, noun: string, plural = `${noun}s`): string {
  return count === 1 ? `1 ${noun}` : `${count} ${plural}`;
}

/** A risk of the failure of an appliance: `blog is missing at b`. */
export function riskWords({ risk, successor, subject, key }: Risk, name: string, cluster: Cluster): string {
  const { facts, groups, websites } = cluster;
  const group = groups.get(key)?.facts;
  const vip = group === undefined ? subject : groupName(group);
  const website = websites.get(key);
  const [here, there] = [name, successor].map((each) => website && sideOf(website, each));
  const words: Readonly<Record<RiskKind, () => string>> = {
    no_backup: () => `no appliance takes over ${vip}${elsewhere(key, name, cluster)}`,
    backup_lost: () => `no appliance takes over ${vip}, since its backup is lost`,
    backup_unknown: () => `the backup of ${vip} is not known`,
    undecided: () => `it is not decided which appliance is MASTER of ${vip}`,
    address_missing: () => `${subject} is missing at ${successor}`,
    address_unknown: () => `not all addresses of ${vip} are known at ${successor}`,
    same_priority: () => `${successor} has the same priority as another member for ${vip}`,
    two_preferred: () => `several members are FAILOVER MASTER of ${vip}`,
    website_down: () => `${subject} is down at ${successor}${found(facts.appliances, there, successor)}`,
    website_unknown: () =>
      subject === "all" && key === ""
        ? `not all websites of ${successor || name} are known`
        : `it is not known whether ${subject} is up at ${successor}`,
    website_missing: () => `${subject} is missing at ${successor}`,
    website_disabled: () => `${subject} is disabled at ${successor}`,
    website_less_protected: () =>
      `${subject} is less protected at ${successor} (${there?.details?.mode} instead of ${here?.details?.mode})`,
    website_backends_lost: () => `no server behind ${subject} is usable at ${successor}`,
    website_differs: () => `${subject} differs at ${successor} (${differing(here, there, name, successor)})`,
  };
  return words[risk]();
}

/** Where another group has an address of this one: `; b is BACKUP of it under VHID 12`. */
function elsewhere(key: string, name: string, { groups }: Cluster): string {
  const own = groups.get(key)?.facts;
  const addresses = new Set(own && [own.vip, ...own.aliases]);
  const others = [...groups.values()].flatMap(({ facts }) => {
    const isShared = facts.key !== key && [facts.vip, ...facts.aliases].some((each) => addresses.has(each));
    const members = facts.members.filter(
      ({ appliance, role }) => isShared && role !== "unknown" && appliance !== name,
    );
    return members.map(({ appliance }) => `${appliance} has it under VHID ${facts.vhid}`);
  });
  return others.length === 0 ? "" : ` (${listed(others, NAMED)})`;
}

function found(appliances: readonly ApplianceSnapshot[], there: Side | undefined, successor: string): string {
  const statuses = testOf(appliances, there)?.found?.statuses ?? [];
  const down = statuses.filter(({ isUp }) => !isUp);
  const said = down.map(({ protocol, status, text }) => `${protocol} ${statusText(status, text)}`);
  return said.length === 0 ? "" : ` (${listed(said)} from ${successor})`;
}

function testOf(
  appliances: readonly ApplianceSnapshot[],
  side: Side | undefined,
): WebsiteSnapshot | undefined {
  const { identity, websiteId } = side?.known ?? {};
  return appliances
    .find((each) => each.identity.appliance === identity?.appliance)
    ?.websites.find((test) => test.websiteId === websiteId);
}

const SAID: Readonly<Record<Aspect, (side: Side) => string>> = {
  protocol: ({ details }) => `protocol ${details?.protocol}`,
  mode: ({ details }) => `mode ${details?.mode}`,
  backends: ({ details }) => serverNames(details?.backends ?? { shown: [], leftOut: 0 }),
};

function differing(here: Side | undefined, there: Side | undefined, name: string, successor: string): string {
  if (here === undefined || there === undefined) return `${name} lacks it`;
  const aspects = differencesBetween(here, there);
  if (aspects.length === 0) return `disabled at ${name}`;
  const said = aspects.map(
    (aspect) => `${SAID[aspect](here)} at ${name}, ${SAID[aspect](there)} at ${successor}`,
  );
  return said.join("; ");
}

/**
 * When the older of the answers from which a risk follows was received: Unix time in milliseconds; `undefined` where one is
 * missing.
 */
export function evidenceAtMs({ risk, successor, key }: Risk, name: string, { facts, websites }: Cluster) {
  const members = facts.appliances.filter(
    ({ identity: { appliance } }) => appliance === name || appliance === successor,
  );
  const website = websites.get(key);
  const instants = members.map((member) => {
    if (website === undefined && risk !== "website_unknown") return member.vrrp.health.lastSuccessAtMs;
    const { list, details } = member.discovery ?? {};
    const side = website && sideOf(website, member.identity.appliance);
    const isTest = risk === "website_down" || risk === "website_unknown";
    const test = isTest ? testOf(facts.appliances, side) : undefined;
    if (test !== undefined) return test.health.lastSuccessAtMs;
    return risk === "website_missing" ? list?.lastSuccessAtMs : details?.lastSuccessAtMs;
  });
  return instants.some((each) => each === undefined) ? undefined : Math.min(...instants.map(Number));
}
