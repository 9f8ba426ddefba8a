import {
  APPLIANCE,
  GROUP_STATE,
  GROUP_STATES,
  MEMBER,
  MEMBER_STATE,
  MEMBER_STATES,
  OF_APPLIANCE,
} from "../expressions.ts";
import { table, timeline, type Row } from "../panels.ts";

/** The interface of a group is empty unless a link tells groups apart. */
const NAME = "{{ha_cluster}} {{vip}} vhid {{vhid}} {{interface}}";
export const VRRP: Row = {
  title: "VRRP",
  collapsed: false,
  panels: [
    timeline({
      title: "Groups that had a problem",
      description:
        "The VRRP groups that had another state than one master within the range, as the exporters judge it. If they differ, the worst counts. A gap: no exporter was scraped. Empty if no group had a problem.",
      expr: GROUP_STATE,
      legend: NAME,
      states: GROUP_STATES,
    }),
    timeline({
      title: "Who was master when",
      description:
        "What each member reported. A gap: its list was not known. With several exporters, one that sees MASTER is enough. Empty if no member was seen.",
      expr: MEMBER_STATE,
      legend: `${NAME}: {{appliance}}`,
      states: MEMBER_STATES,
    }),
    table({
      title: "Members now",
      description:
        "State, reported priority, last change of state, and the number of changes within the range. Cells are empty while unknown. Empty while no exporter is scraped.",
      queries: [
        MEMBER_STATE,
        `max by (${MEMBER}) (vrrp_priority{${OF_APPLIANCE}})`,
        `1000 * max by (${MEMBER}) (vrrp_last_transition_timestamp_seconds{${OF_APPLIANCE}})`,
        `round(max by (${MEMBER}) (increase(vrrp_transitions_total{${OF_APPLIANCE}}[$__range])))
and on (${APPLIANCE}) appliance_up{${OF_APPLIANCE}}`,
      ],
      sortBy: "Cluster",
      emptyText: "No member is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "vip", title: "VIP" },
        { of: "vhid", title: "VHID" },
        { of: "appliance", title: "Appliance" },
        { of: "interface", title: "Interface" },
        { of: 0, title: "State", states: MEMBER_STATES },
        { of: 1, title: "Priority" },
        { of: 2, title: "Changed", unit: "dateTimeFromNow" },
        { of: 3, title: "Changes" },
      ],
    }),
  ],
};
