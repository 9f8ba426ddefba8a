import type { OperationKind } from "../../api/operations.ts";
import type { PollHealth } from "../../fleet/snapshot.ts";
import {
  asSeconds,
  counter,
  gauge,
  sample,
  type Families,
  type Family,
  type Labels,
  type Sample,
} from "../family.ts";

/** Results of polls. They remain when a poll fails, and show why. */
export const POLLING_FAMILIES: Families = {
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
    perOperation(({ failure }, ...labels) =>
      failure === undefined ? [] : sample(1, ...labels, ["reason", failure.reason]),
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

function success({ state }: PollHealth): boolean | undefined {
  return state === "never_polled" ? undefined : state === "succeeded";
}

function perOperation(
  samples: (health: PollHealth, ...labels: Labels) => readonly Sample[],
): Family["samples"] {
  const of = (operation: OperationKind, health: PollHealth | undefined) =>
    health === undefined ? [] : samples(health, ["operation", operation]);
  return {
    vrrp: ({ health }) => of("vrrp", health),
    discovery: ({ list, details }) => [...of("website_list", list), ...of("website_details", details)],
    website_test: ({ health }) => samples(health),
  };
}

function totals(counted: "polls" | "failures"): Family["samples"] {
  return {
    totals: ({ counts }) =>
      Object.entries(counts).flatMap(([operation, count]) =>
        sample(count[counted], ["operation", operation]),
      ),
  };
}
