import { APPLIANCE_STATES, CLUSTER_STATES } from "../../status/verdicts/appliance.ts";
import { BACKEND_STATES } from "../../status/verdicts/backends.ts";
import { GROUP_STATES } from "../../status/verdicts/group.ts";
import { WEBSITE_STATES } from "../../status/verdicts/website.ts";
import { asSeconds, gauge, sample, stateSamples, type Families } from "../family.ts";

const STATE = "1 for the present one, 0 for the others. Judged from the latest polls, not from the scrape.";
const SINCE = "as Unix time; absent where the exporter did not see the beginning.";
const JUDGED = "Judged from the latest polls, not from the scrape.";

/** What the facts mean, as the exporter judges it: 1 for the present state, 0 for all others. */
export const VERDICT_FAMILIES: Families = {
  vrrp_group_state: gauge(`State of the VRRP group: ${STATE}`, {
    group: (group) => stateSamples(GROUP_STATES, group.state),
  }),
  vrrp_group_master: gauge(
    `1 for the one known MASTER of the VRRP group; absent unless there is one. ${JUDGED}`,
    { group: (group) => (group.master === undefined ? [] : sample(1, ["appliance", group.master])) },
  ),
  vrrp_group_state_since_timestamp_seconds: gauge(
    `When the state of the VRRP group began, ${SINCE} ${JUDGED}`,
    { group: (group) => (group.state === undefined ? [] : sample(asSeconds(group.sinceMs))) },
  ),
  website_state: gauge(`State of the website for its visitors: ${STATE}`, {
    website: (site) =>
      site.states.flatMap((each) => stateSamples(WEBSITE_STATES, each.state, ["protocol", each.protocol])),
  }),
  website_state_since_timestamp_seconds: gauge(`When the state of the website began, ${SINCE} ${JUDGED}`, {
    website: (site) =>
      site.states.flatMap((each) =>
        each.state === undefined ? [] : sample(asSeconds(each.sinceMs), ["protocol", each.protocol]),
      ),
  }),
  appliance_state: gauge(`State of the appliance: ${STATE}`, {
    appliance: ({ state }) => stateSamples(APPLIANCE_STATES, state),
  }),
  appliance_state_since_timestamp_seconds: gauge(
    `When the state of the appliance began, ${SINCE} ${JUDGED}`,
    { appliance: ({ sinceMs }) => sample(asSeconds(sinceMs)) },
  ),
  ha_cluster_state: gauge(`State of the cluster: ${STATE}`, {
    cluster: ({ state }) => stateSamples(CLUSTER_STATES, state),
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
        site.differences.flatMap(({ kind }) => sample(1, ["address", site.key], ["difference", kind])),
    },
  ),
  website_backends_state: gauge(`State of the servers behind the website: ${STATE}`, {
    website: (site) => stateSamples(BACKEND_STATES, site.backends, ["address", site.key]),
  }),
};
