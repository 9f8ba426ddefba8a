import type { OperationKind } from "../api/operation.ts";
import {
  membersIn,
  type FoundWebsite,
  type InterfaceSnapshot,
  type PollHealth,
  type StatusesSnapshot,
  type StatusSnapshot,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { groupBy } from "../../support/group-by.ts";
import { usableBackends } from "../judge/judge-website.ts";
import {
  addressLabels,
  asSeconds,
  counter,
  type Families,
  type Family,
  gauge,
  groupLabels,
  type Labels,
  sample,
  type Sample,
  stateSamples,
  type SampleValue,
} from "./family.ts";

const LIST = "From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.";
const LISTS = "From the latest polls of the members' VRRP lists, not from the scrape.";
const TEST =
  "From the latest website test by the appliance, not from the scrape; absent unless that poll succeeded.";
const DETAILS =
  "From the latest poll of the website's details, not from the scrape; absent unless that poll succeeded.";

/** The states of an interface; `other` stands for any other reported state, whose word is in the JSON and in the log. */
const STATES = ["MASTER", "BACKUP", "other"] as const;

/** The families of facts that the appliances report, and of the health of polls, which remain when a poll fails. */
export const FACT_FAMILIES: Families = {
  vrrp_is_master: gauge(
    `Whether state_current of the VRRP interface is MASTER (1) or not (0). ${LIST}`,
    perInterface(({ reported }) => reported.state === "MASTER"),
  ),
  vrrp_priority: gauge(
    `Priority of the VRRP interface as reported, 0 to 255. ${LIST}`,
    perInterface(({ reported }) => reported.priority),
  ),
  vrrp_advskew: gauge(
    `Advertising skew of the VRRP interface as reported, -1 to 254. ${LIST}`,
    perInterface(({ reported }) => reported.advskew),
  ),
  vrrp_aliases: gauge(
    `Number of IP aliases of the VRRP interface. ${LIST}`,
    perInterface(({ reported }) => reported.aliases?.length),
  ),
  vrrp_state: gauge(`Whether state_current of the VRRP interface is that of the label state. ${LIST}`, {
    vrrp_list: ({ interfaces }) =>
      interfaces.flatMap((i) => {
        const present = STATES.find((state) => state === i.reported.state) ?? "other";
        return stateSamples(STATES, present, ...interfaceLabels(i));
      }),
  }),
  vrrp_interface_info: gauge(`Further facts of the VRRP interface as reported; always 1. ${LIST}`, {
    vrrp_list: ({ interfaces }) =>
      interfaces.flatMap((i) => sample(1, ...interfaceLabels(i), ...infoLabels(i))),
  }),
  carp_demotion: gauge(
    `CARP demotion of the appliance, which adds to the advertising skews of all its interfaces; where it is not 0, vrrp_priority is absent. ${LIST}`,
    { vrrp_list: ({ demotion }) => sample(demotion) },
  ),
  vrrp_transitions_total: counter(
    `Changes of state_current against the last successful poll, since the interface was first seen. ${LIST}`,
    perInterface(({ transitions }) => transitions),
  ),
  vrrp_last_transition_timestamp_seconds: gauge(
    `When the latest change of state_current was seen, as Unix time; absent before the first. ${LIST}`,
    perInterface(({ lastTransitionAtMs }) => asSeconds(lastTransitionAtMs)),
  ),
  vrrp_group_masters: gauge(`Members of the VRRP group known to be MASTER. ${LISTS}`, {
    group: ({ facts }) => sample(membersIn(facts, "master").length),
  }),
  vrrp_group_backups: gauge(`Members of the VRRP group known to be BACKUP. ${LISTS}`, {
    group: ({ facts }) => sample(membersIn(facts, "backup").length),
  }),
  vrrp_group_unknown_members: gauge(
    `Appliances whose VRRP list is not known now and that were last seen in the group, or never seen at all. ${LISTS}`,
    { group: ({ facts }) => sample(membersIn(facts, "unknown").length) },
  ),
  vrrp_group_preferred_master: gauge(
    `Whether the one MASTER of the VRRP group is its preferred member; absent unless there is exactly one. ${LISTS}`,
    { group: ({ isPreferredMaster }) => sample(isPreferredMaster) },
  ),
  website_http_status: gauge(
    `Status code of the website's response to HEAD; 0 if the appliance got no HTTP response. ${TEST}`,
    perStatus(({ status }) => status, addressLabels),
  ),
  website_up: gauge(
    `Whether the website's status is among those expected. ${TEST}`,
    perStatus(({ isUp }) => isUp),
  ),
  website_status_changes_total: counter(
    `Changes of the website's status against the last successful poll, since it was first seen. ${TEST}`,
    perStatus(({ changes }) => changes),
  ),
  website_info: gauge(`What the appliance says of the website; always 1. ${DETAILS}`, {
    website_details: ({ details: { host, port = "", protocol = "unknown", mode = "unknown" } }) =>
      sample(1, ["host", host], ["port", String(port)], ["protocol", protocol], ["mode", mode]),
  }),
  website_enabled: gauge(`Whether the website is enabled on the appliance. ${DETAILS}`, {
    website_details: ({ details }) => sample(details.isEnabled),
  }),
  website_backend_ok: gauge(
    `Whether the appliance reports the server behind the website as OK (1) or has seen an error (0). ${DETAILS}`,
    { website_details: backendSamples },
  ),
  website_backends_left_out: gauge(
    "Servers behind the appliance's websites, by the latest polls of their details, that have no website_backend_ok: those beyond its limits.",
    { discovery: ({ backendsLeftOut }) => sample(backendsLeftOut) },
  ),
  website_usable_backends: gauge(
    `Servers behind the website, active and backup ones, that the appliance reports as OK. ${DETAILS}`,
    { website_details: ({ details }) => sample(usableBackends(details)) },
  ),
  appliance_up: gauge(
    "Whether the latest poll of the appliance's VRRP list succeeded; not from the scrape.",
    { vrrp: ({ health }) => sample(success(health)) },
  ),
  appliance_poll_success: gauge(
    "Whether the latest poll of the operation succeeded; not from the scrape.",
    perOperation((health, ...labels) => sample(success(health), ...labels)),
  ),
  appliance_poll_duration_seconds: gauge(
    "How long the latest poll of the operation took, from name lookup to last byte; not the scrape.",
    perOperation(({ durationSeconds }, ...labels) => sample(durationSeconds, ...labels)),
  ),
  appliance_last_success_timestamp_seconds: gauge(
    "When a poll of the operation last succeeded, as Unix time, not when it was scraped; absent before the first.",
    perOperation(({ lastSuccessAtMs }, ...labels) => sample(asSeconds(lastSuccessAtMs), ...labels)),
  ),
  appliance_poll_failure_info: gauge(
    "1 while the latest poll of the operation, not the scrape, has failed, with the one reason.",
    perOperation(
      ({ failure }, ...labels) =>
        failure === undefined ? [] : sample(1, ...labels, ["reason", failure.reason]),
      addressLabels,
    ),
  ),
  appliance_polls_total: counter(
    "Polls of the operation since the appliance was configured.",
    totals("polls"),
  ),
  appliance_poll_failures_total: counter(
    "Failed polls of the operation since the appliance was configured.",
    totals("failures"),
  ),
  appliance_api_anomalies: gauge(
    "Deviations from the API in the latest polled lists and details, not in the scrape; absent unless those polls succeeded.",
    {
      anomalies: ({ counts }) =>
        Object.entries(counts).flatMap(([anomaly, count]) => sample(count, ["anomaly", anomaly])),
    },
  ),
  appliance_tls_certificate_not_after_timestamp_seconds: gauge(
    "End of validity, as Unix time, of the certificate the appliance last presented to a poll, trusted or not.",
    { vrrp: ({ certificate }) => sample(certificate?.notAfterSeconds) },
  ),
  appliance_tls_chain_not_after_timestamp_seconds: gauge(
    "Earliest end of validity, as Unix time, in the chain of the certificate last presented to a poll, up to the authority; of a pinned one, its own.",
    { vrrp: ({ certificate }) => sample((certificate?.endingSigner ?? certificate)?.notAfterSeconds) },
  ),
};

function perInterface(value: (i: InterfaceSnapshot) => SampleValue): Family["samples"] {
  return {
    vrrp_list: ({ interfaces }) => interfaces.flatMap((i) => sample(value(i), ...interfaceLabels(i))),
  };
}

function perStatus(
  value: (status: StatusSnapshot) => SampleValue,
  further: (test: StatusesSnapshot) => Labels = () => [],
): Family["samples"] {
  return {
    website_statuses: (test) =>
      test.statuses.flatMap((one) => sample(value(one), ...further(test), ["protocol", one.protocol])),
  };
}

function interfaceLabels({ reported }: InterfaceSnapshot): Labels {
  return [["interface", reported.name], ...groupLabels(reported)];
}

/** Returns the labels that do not change at a failover. */
function infoLabels({ reported: { device, netmask, peer, configuredRole } }: InterfaceSnapshot): Labels {
  return [
    ["device", device],
    ["netmask", netmask],
    ["peer", peer],
    ["configured_role", configuredRole ?? ""],
  ];
}

/** Returns a sample for each server. A server that is listed twice in one role is OK if both entries are. */
function backendSamples(website: FoundWebsite): readonly Sample[] {
  const known = (website.details.backends?.shown ?? []).filter(({ isOk }) => isOk !== undefined);
  const servers = groupBy(known, ({ address, role = "unknown" }) => `${role} ${address}`);
  return [...servers.values()].flatMap((rows) => {
    const { address = "", role = "unknown" } = rows[0] ?? {};
    const areOk = rows.every(({ isOk }) => isOk);
    return sample(areOk, ...addressLabels(website), ["backend", address], ["role", role]);
  });
}

function success({ state }: PollHealth): boolean | undefined {
  return state === "pending" ? undefined : state === "succeeded";
}

/** The parts with the health of each operation's polls. */
interface PartOf {
  readonly vrrp: "vrrp";
  readonly website_list: "discovery";
  readonly website_details: "discovery";
  readonly website_test: "website_test";
}

/** Returns samples for each operation. Every operation needs a part, and every part that has operations needs samples. */
function perOperation(
  samples: (health: PollHealth, ...labels: Labels) => readonly Sample[],
  further: (test: WebsiteSnapshot) => Labels = () => [],
): Required<Pick<Family["samples"], PartOf[OperationKind]>> {
  const of = (operation: OperationKind, health: PollHealth | undefined) =>
    health === undefined ? [] : samples(health, ["operation", operation]);
  return {
    vrrp: ({ health }) => of("vrrp", health),
    discovery: ({ list, details }) => [...of("website_list", list), ...of("website_details", details)],
    website_test: (test) => samples(test.health, ...further(test)),
  };
}

function totals(counted: "polls" | "failures"): Family["samples"] {
  return {
    totals: ({ counts }) =>
      Object.entries(counts).flatMap(([kind, count]) => sample(count[counted], ["operation", kind])),
  };
}
