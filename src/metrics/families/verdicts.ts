import type { WebsiteVerdict } from "../../status/verdict.ts";
import { APPLIANCE_STATES, CLUSTER_STATES } from "../../status/verdicts/appliance.ts";
import { GROUP_STATES } from "../../status/verdicts/group.ts";
import { WEBSITE_STATES } from "../../status/verdicts/website.ts";
import { asSeconds, groupLabels, sample, stateSamples, type Family, type Labels } from "../family.ts";

const SINCE = "as Unix time; absent where the exporter did not see the beginning.";

/** What the facts mean, as the exporter judges it: 1 for the present state, 0 for all others. */
export const VERDICT_FAMILIES: readonly Family[] = [
  gauge("vrrp_group_state", "State of the VRRP group: 1 for the present one, 0 for the others.", {
    group: (group) => stateSamples(groupLabels(group), GROUP_STATES, group.state),
  }),
  gauge("vrrp_group_master", "1 for the one known MASTER of the VRRP group; absent unless there is one.", {
    group: (group) =>
      group.master === undefined ? [] : sample([...groupLabels(group), ["appliance", group.master]], 1),
  }),
  gauge("vrrp_group_state_since_timestamp_seconds", `When the state of the VRRP group began, ${SINCE}`, {
    group: (group) => (group.state === undefined ? [] : sample(groupLabels(group), asSeconds(group.sinceMs))),
  }),
  gauge("website_state", "State of the website for its visitors: 1 for the present one, 0 for the others.", {
    website: (site) => stateSamples(websiteLabels(site), WEBSITE_STATES, site.state),
  }),
  gauge("website_state_since_timestamp_seconds", `When the state of the website began, ${SINCE}`, {
    website: (site) => (site.state === undefined ? [] : sample(websiteLabels(site), asSeconds(site.sinceMs))),
  }),
  gauge("appliance_state", "State of the appliance: 1 for the present one, 0 for the others.", {
    appliance: ({ state }) => stateSamples([], APPLIANCE_STATES, state),
  }),
  gauge("appliance_state_since_timestamp_seconds", `When the state of the appliance began, ${SINCE}`, {
    appliance: ({ sinceMs }) => sample([], asSeconds(sinceMs)),
  }),
  gauge("ha_cluster_state", "State of the cluster: 1 for the present one, 0 for the others.", {
    cluster: ({ state }) => stateSamples([], CLUSTER_STATES, state),
  }),
];

function gauge(name: string, help: string, samples: Family["samples"]): Family {
  return { name, type: "gauge", help: `${help} Judged from the latest polls, not from the scrape.`, samples };
}

function websiteLabels({ websiteId, website, protocol }: WebsiteVerdict): Labels {
  return [
    ["website_id", String(websiteId)],
    ["website", website],
    ["protocol", protocol],
  ];
}
