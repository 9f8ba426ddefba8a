import type { ApplianceVerdict, WebsiteVerdict } from "../../status/judge.ts";
import { APPLIANCE_STATES, CLUSTER_STATES } from "../../status/verdicts/appliance.ts";
import { GROUP_STATES } from "../../status/verdicts/group.ts";
import { WEBSITE_STATES } from "../../status/verdicts/website.ts";
import {
  asSeconds,
  clusterLabels,
  identityLabels,
  sample,
  stateSamples,
  type Family,
  type Labels,
} from "../family.ts";

const SOURCE = "Judged from the latest polls, not from the scrape.";
const SINCE = "as Unix time; absent where the exporter did not see the beginning.";

/** What the facts mean, as the exporter judges it: 1 for the present state, 0 for all others. */
export const VERDICT_FAMILIES: readonly Family[] = [
  {
    ...gauge("vrrp_group_state", "State of the VRRP group: 1 for the present one, 0 for the others."),
    group: ({ state }) => stateSamples([], GROUP_STATES, state),
  },
  {
    ...gauge(
      "vrrp_group_master",
      "1 for the one known MASTER of the VRRP group; absent unless there is one.",
    ),
    group: ({ master }) => (master === undefined ? [] : sample([["appliance", master]], 1)),
  },
  {
    ...gauge("vrrp_group_state_since_timestamp_seconds", `When the state of the VRRP group began, ${SINCE}`),
    group: ({ state, sinceMs }) => (state === undefined ? [] : sample([], asSeconds(sinceMs))),
  },
  {
    ...gauge(
      "website_state",
      "State of the website for its visitors: 1 for the present one, 0 for the others.",
    ),
    samples: { website: (site) => stateSamples(websiteLabels(site), WEBSITE_STATES, site.state) },
  },
  {
    ...gauge("website_state_since_timestamp_seconds", `When the state of the website began, ${SINCE}`),
    samples: {
      website: (site) =>
        site.state === undefined ? [] : sample(websiteLabels(site), asSeconds(site.sinceMs)),
    },
  },
  {
    ...gauge("appliance_state", "State of the appliance: 1 for the present one, 0 for the others."),
    samples: {
      appliance: ({ identity, state }) => stateSamples(identityLabels(identity), APPLIANCE_STATES, state),
    },
  },
  {
    ...gauge("appliance_state_since_timestamp_seconds", `When the state of the appliance began, ${SINCE}`),
    samples: {
      appliance: ({ identity, sinceMs }: ApplianceVerdict) =>
        sample(identityLabels(identity), asSeconds(sinceMs)),
    },
  },
  {
    ...gauge("ha_cluster_state", "State of the cluster: 1 for the present one, 0 for the others."),
    cluster: ({ facts, state }) => stateSamples(clusterLabels(facts), CLUSTER_STATES, state),
  },
];

function gauge(name: string, help: string): Family {
  return { name, type: "gauge", help: `${help} ${SOURCE}`, samples: {} };
}

function websiteLabels(verdict: WebsiteVerdict): Labels {
  const { websiteId, website, protocol } = verdict;
  return [
    ...clusterLabels(verdict),
    ["website_id", String(websiteId)],
    ["website", website],
    ["protocol", protocol],
  ];
}
