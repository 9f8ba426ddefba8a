import type { OperationKind } from "../api/operations.ts";
import type { PollHealth, WebsiteSnapshot } from "../fleet/snapshot.ts";
import { PROBLEM_OF } from "../status/states.ts";
import { keysOf } from "../support/keys.ts";
import {
  addressLabels,
  asSeconds,
  counter,
  type Families,
  type Family,
  gauge,
  type Labels,
  sample,
  type Sample,
  stateSamples,
} from "./family.ts";
import { REPORTED_FAMILIES } from "./reported-families.ts";

/** Holds what appliances reported, and how polls went, which remains when one fails. */
export const FACT_FAMILIES: Families = {
  ...REPORTED_FAMILIES,
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
};

const JUDGED = "Judged from the latest polls, not from the scrape.";
const STATE = `1 for the present one, 0 for the others. ${JUDGED}`;
const SINCE = `as Unix time; absent where the exporter did not see the beginning. ${JUDGED}`;

/** Every metric family of the fleet. Names and labels are a contract: docs/metrics.md. */
export const FLEET_FAMILIES: Families = {
  ...FACT_FAMILIES,
  vrrp_group_state: gauge(`State of the VRRP group: ${STATE}`, {
    group: (group) => stateSamples(keysOf(PROBLEM_OF.group), group.state),
  }),
  vrrp_group_master: gauge(
    `1 for the one known MASTER of the VRRP group; absent unless there is one. ${JUDGED}`,
    { group: (group) => (group.master === undefined ? [] : sample(1, ["appliance", group.master])) },
  ),
  vrrp_group_state_since_timestamp_seconds: gauge(`When the state of the VRRP group began, ${SINCE}`, {
    group: (group) => (group.state === undefined ? [] : sample(asSeconds(group.sinceMs))),
  }),
  website_state: gauge(`State of the website for its visitors: ${STATE}`, {
    website: ({ key, states }) =>
      states.flatMap((each) =>
        stateSamples(keysOf(PROBLEM_OF.website), each.state, ["address", key], ["protocol", each.protocol]),
      ),
  }),
  website_state_since_timestamp_seconds: gauge(`When the state of the website began, ${SINCE}`, {
    website: (site) =>
      site.states.flatMap((each) =>
        each.state === undefined ? [] : sample(asSeconds(each.sinceMs), ["protocol", each.protocol]),
      ),
  }),
  appliance_enabled: gauge(
    "Whether the appliance is enabled in the configuration; if not, it is not polled.",
    {
      appliance: () => sample(true),
      disabled: () => sample(false),
    },
  ),
  appliance_state: gauge(`State of the appliance: ${STATE}`, {
    appliance: ({ state }) => stateSamples(keysOf(PROBLEM_OF.appliance), state),
  }),
  appliance_state_since_timestamp_seconds: gauge(`When the state of the appliance began, ${SINCE}`, {
    appliance: ({ sinceMs }) => sample(asSeconds(sinceMs)),
  }),
  appliance_tls_certificate_state: gauge(
    `State of the certificate that the appliance last presented: ${STATE}`,
    {
      appliance: ({ certificate }) => stateSamples(keysOf(PROBLEM_OF.certificate), certificate),
    },
  ),
  ha_cluster_state: gauge(`State of the cluster: ${STATE}`, {
    cluster: ({ state }) => stateSamples(keysOf(PROBLEM_OF.cluster), state),
  }),
  ha_cluster_website_differences: gauge(
    `Websites that the members of the cluster do not agree on; absent while the list of a member is not known. ${JUDGED}`,
    {
      cluster: ({ differences }) =>
        Object.entries(differences).flatMap(([kind, count]) => sample(count, ["difference", kind])),
    },
  ),
  website_difference_info: gauge(
    `1 for each website that the members of the cluster do not agree on. ${JUDGED}`,
    {
      website: (site) =>
        site.differences.flatMap(({ kind, lacking }) => {
          const labels: Labels = [
            ["address", site.key],
            ["difference", kind],
          ];
          if (kind !== "missing") return sample(1, ...labels);
          return lacking.flatMap((appliance) => sample(1, ...labels, ["appliance", appliance]));
        }),
    },
  ),
  website_backends_state: gauge(`State of the servers behind the website: ${STATE}`, {
    website: (site) => stateSamples(keysOf(PROBLEM_OF.backends), site.backends, ["address", site.key]),
  }),
};

function success({ state }: PollHealth): boolean | undefined {
  return state === "never_polled" ? undefined : state === "succeeded";
}

/** The part that has how the polls of an operation went. */
interface PartOf {
  readonly vrrp: "vrrp";
  readonly website_list: "discovery";
  readonly website_details: "discovery";
  readonly website_test: "website_test";
}

/** Every operation needs a part, and every part that has operations needs samples. */
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
