import type { FoundWebsiteSnapshot } from "../../fleet/snapshot.ts";
import type { DiscoveredWebsite } from "../../status/verdict.ts";
import { BACKEND_STATES, usableBackends } from "../../status/verdicts/backends.ts";
import { DIFFERENCES } from "../../status/verdicts/differences.ts";
import { asBit, onceInARow, sample, stateSamples, type Family, type Labels, type Sample } from "../family.ts";

const SOURCE =
  "From the latest poll of the website's details, not from the scrape; absent unless that poll succeeded.";

/** The websites as their appliances describe them. */
export const DISCOVERY_FAMILIES: readonly Family[] = [
  gauge("website_info", "What the appliance says of the website; always 1.", (website) => {
    const { host, port, protocol = "unknown", mode = "unknown" } = website.details;
    const facts: Labels = [
      ["host", host],
      ["port", port === undefined ? "" : String(port)],
      ["protocol", protocol],
      ["mode", mode],
    ];
    return sample([...labelsOf(website), ...facts], 1);
  }),
  gauge("website_enabled", "Whether the website is enabled on the appliance.", (website) => {
    const { isEnabled } = website.details;
    return sample(labelsOf(website), isEnabled === undefined ? undefined : asBit(isEnabled));
  }),
  gauge(
    "website_backend_ok",
    "Whether the appliance reports the server behind the website as OK (1) or has seen an error (0).",
    backendSamples,
  ),
  gauge(
    "website_usable_backends",
    "Servers behind the website, active and backup ones, that the appliance reports as OK.",
    (website) => sample(labelsOf(website), usableBackends(website.details)),
  ),
];

const JUDGED = "Judged from the latest polls, not from the scrape.";

/** What the members of a cluster say of their websites, taken together. */
export const DISCOVERED_FAMILIES: readonly Family[] = [
  {
    name: "ha_cluster_website_differences",
    type: "gauge",
    help: `Websites that the members of the cluster do not agree on; absent while the list of a member is not known. ${JUDGED}`,
    samples: {
      discovered: ({ websites, compared }) =>
        DIFFERENCES.flatMap((kind) => {
          const count = websites.filter((each) => each.differences.some((one) => one.kind === kind)).length;
          return count === 0 && !compared.includes(kind) ? [] : sample([["difference", kind]], count);
        }),
    },
  },
  {
    name: "website_difference_info",
    type: "gauge",
    help: `1 for each website that the members of the cluster do not agree on. ${JUDGED}`,
    samples: {
      discovered: ({ websites }) =>
        websites.flatMap((each) =>
          each.differences.flatMap(({ kind }) => sample([...clusterLabels(each), ["difference", kind]], 1)),
        ),
    },
  },
  {
    name: "website_backends_state",
    type: "gauge",
    help: `State of the servers behind the website: 1 for the present one, 0 for the others. ${JUDGED}`,
    samples: {
      discovered: ({ websites }) =>
        websites.flatMap((each) => stateSamples(clusterLabels(each), BACKEND_STATES, each.state)),
    },
  },
];

function gauge(
  name: string,
  help: string,
  samples: (website: FoundWebsiteSnapshot) => readonly Sample[],
): Family {
  return { name, type: "gauge", help: `${help} ${SOURCE}`, samples: { website_details: samples } };
}

/** The families share the labels. */
const labelsOf = onceInARow(({ websiteId, website }: FoundWebsiteSnapshot): Labels => [
  ["website_id", String(websiteId)],
  ["website", website],
]);

/** Host and port, as two websites may have the same id and name at different appliances. */
function clusterLabels({ websiteId, website, address }: DiscoveredWebsite): Labels {
  return [
    ["website_id", String(websiteId)],
    ["website", website],
    ["address", address],
  ];
}

/** A server that is listed twice in one role is OK if both are. */
function backendSamples(website: FoundWebsiteSnapshot): readonly Sample[] {
  const isOk = new Map<string, Sample>();
  for (const { address, role = "unknown", isOk: ok } of website.details.backends ?? []) {
    if (ok === undefined) continue;
    const key = `${role} ${address}`;
    const labels: Labels = [...labelsOf(website), ["backend", address], ["role", role]];
    isOk.set(key, { labels, value: Math.min(asBit(ok), isOk.get(key)?.value ?? 1) });
  }
  return [...isOk.values()];
}
