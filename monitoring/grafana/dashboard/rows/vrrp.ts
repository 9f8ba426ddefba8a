import {
  APPLIANCE,
  GROUP,
  GROUP_STATE,
  GROUP_STATES,
  IN_CLUSTER,
  MEMBER,
  MEMBER_STATE,
  MEMBER_STATES,
  OF_APPLIANCE,
} from "../expressions.ts";
import { COLOR, table, timeline, type Row, type State } from "../panels.ts";

const NAME = "{{ha_cluster}} {{vip}} vhid {{vhid}}";
const NAME_COLUMNS = [
  { of: "ha_cluster", title: "Cluster" },
  { of: "vip", title: "VIP" },
  { of: "vhid", title: "VHID" },
] as const;

const IS_PREFERRED: readonly State[] = [
  { value: 1, text: "yes", color: COLOR.good },
  { value: 0, text: "no", color: COLOR.warning },
];

export const VRRP: Row = {
  title: "VRRP",
  collapsed: false,
  panels: [
    timeline({
      title: "State of each group",
      description:
        "The state of each VRRP group, as the exporters judge it. If they differ, the worst counts. A gap: no exporter was scraped. Empty if no cluster has two appliances.",
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
      title: "Groups now",
      description:
        "The state of each group, since when, and the one known master. Preferred: whether it is the preferred member; empty if that is unknown. Empty if no cluster has two appliances, and while no exporter is scraped.",
      queries: [
        GROUP_STATE,
        `1000 * min by (${GROUP}) (vrrp_group_state_since_timestamp_seconds{${IN_CLUSTER}})`,
        `min by (${GROUP}) (vrrp_group_preferred_master{${IN_CLUSTER}})`,
        `group by (${MEMBER}) (vrrp_group_master{${IN_CLUSTER}})`,
      ],
      sortBy: "Cluster",
      emptyText: "No group is known",
      columns: [
        ...NAME_COLUMNS,
        { of: 0, title: "State", states: GROUP_STATES },
        { of: "appliance", title: "Master" },
        { of: 1, title: "Since", unit: "dateTimeFromNow" },
        { of: 2, title: "Preferred", states: IS_PREFERRED },
      ],
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
        ...NAME_COLUMNS,
        { of: "appliance", title: "Appliance" },
        { of: 0, title: "State", states: MEMBER_STATES },
        { of: 1, title: "Priority" },
        { of: 2, title: "Changed", unit: "dateTimeFromNow" },
        { of: 3, title: "Changes" },
      ],
    }),
  ],
};
