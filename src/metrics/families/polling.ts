import type { PollHealth, WebsiteSnapshot } from "../../fleet/snapshot.ts";
import {
  asBit,
  asSeconds,
  counter,
  gauge,
  onceInARow,
  sample,
  websiteLabels,
  type Family,
  type Labels,
  type Sample,
} from "../family.ts";

/** Results of polls. They remain when a poll fails, and show why. */
export const POLLING_FAMILIES: readonly Family[] = [
  gauge(
    "appliance_up",
    "Whether the latest poll of the appliance's VRRP list succeeded; not from the scrape.",
    { vrrp: ({ health }) => sample([], success(health)) },
  ),
  gauge(
    "appliance_poll_success",
    "Whether the latest poll of the operation succeeded; not from the scrape.",
    perOperation((labels, health) => sample(labels, success(health))),
  ),
  gauge(
    "appliance_poll_duration_seconds",
    "How long the latest poll of the operation took, from name lookup to last byte; not the scrape.",
    perOperation((labels, health) => sample(labels, health.durationSeconds)),
  ),
  gauge(
    "appliance_last_success_timestamp_seconds",
    "When a poll of the operation last succeeded, as Unix time, not when it was scraped; absent before the first.",
    perOperation((labels, health) => sample(labels, asSeconds(health.lastSuccessAtMs))),
  ),
  gauge(
    "appliance_poll_failure_info",
    "1 while the latest poll of the operation, not the scrape, has failed, with the one reason.",
    perOperation((labels, { failure }) =>
      failure === undefined ? [] : sample([...labels, ["reason", failure.reason]], 1),
    ),
  ),
  counter(
    "appliance_polls_total",
    "Polls of the operation since the appliance was configured.",
    totals("polls"),
  ),
  counter(
    "appliance_poll_failures_total",
    "Failed polls of the operation since the appliance was configured.",
    totals("failures"),
  ),
  gauge(
    "appliance_api_anomalies",
    "Deviations from the API in the latest polled lists and details, not in the scrape; absent unless those polls succeeded.",
    {
      anomalies: ({ counts }) =>
        Object.entries(counts).flatMap(([anomaly, count]) => sample([["anomaly", anomaly]], count)),
    },
  ),
  gauge(
    "appliance_tls_certificate_not_after_timestamp_seconds",
    "End of validity, as Unix time, of the certificate the appliance last presented to a poll, trusted or not.",
    { vrrp: ({ certificate }) => sample([], certificate?.notAfterSeconds) },
  ),
];

function success({ state }: PollHealth): number | undefined {
  return state === "never_polled" ? undefined : asBit(state === "succeeded");
}

function perOperation(samples: (labels: Labels, health: PollHealth) => readonly Sample[]): Family["samples"] {
  return {
    vrrp: ({ health }) => samples(VRRP_LABELS, health),
    discovery: ({ list, details }) => [
      ...samples(WEBSITE_LIST_LABELS, list),
      ...(details === undefined ? [] : samples(WEBSITE_DETAILS_LABELS, details)),
    ],
    website_test: (section) => samples(testLabels(section), section.health),
  };
}

function totals(counted: "polls" | "failures"): Family["samples"] {
  return {
    totals: ({ counts }) =>
      Object.entries(counts).map(([operation, count]) => {
        return { labels: [["operation", operation]], value: count[counted] };
      }),
  };
}

const VRRP_LABELS: Labels = [["operation", "vrrp"]];
const WEBSITE_LIST_LABELS: Labels = [["operation", "website_list"]];
const WEBSITE_DETAILS_LABELS: Labels = [["operation", "website_details"]];

/** The families share the labels. */
const testLabels = onceInARow((test: WebsiteSnapshot): Labels => [
  ["operation", "website_test"],
  ...websiteLabels(test),
]);
