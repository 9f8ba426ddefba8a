import { membersIn, type GroupSnapshot } from "../../fleet/snapshot.ts";
import { asBit, groupLabels, sample, type Family } from "../family.ts";

const SOURCE = "From the latest polls of the members' VRRP lists, not from the scrape.";

/** VRRP groups: what the members of a cluster report of one virtual address, taken together. */
export const GROUP_FAMILIES: readonly Family[] = [
  family(
    "vrrp_group_masters",
    "Members of the VRRP group known to be MASTER.",
    (group) => membersIn(group, "master").length,
  ),
  family(
    "vrrp_group_backups",
    "Members of the VRRP group known to be BACKUP.",
    (group) => membersIn(group, "backup").length,
  ),
  family(
    "vrrp_group_unknown_members",
    "Appliances whose VRRP list is not known now and that were last seen in the group, or never seen at all.",
    (group) => membersIn(group, "unknown").length,
  ),
  family(
    "vrrp_group_preferred_master",
    "Whether the one MASTER of the VRRP group is its preferred member; absent unless there is exactly one.",
    ({ isPreferredMaster }) => (isPreferredMaster === undefined ? undefined : asBit(isPreferredMaster)),
  ),
];

function family(name: string, help: string, value: (group: GroupSnapshot) => number | undefined): Family {
  return {
    name,
    type: "gauge",
    help: `${help} ${SOURCE}`,
    samples: { group: (group) => sample(groupLabels(group), value(group.facts)) },
  };
}
