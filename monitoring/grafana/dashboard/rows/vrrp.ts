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
import { COLOR, graph, table, timeline, valueMap, type Row } from "../panels.ts";

const NAME = "{{ha_cluster}} {{vip}} vhid {{vhid}}";
const MEMBER_NAME = `${NAME}: {{appliance}}`;
const PRIORITY = `max by (${MEMBER}) (vrrp_priority{${OF_APPLIANCE}})`;

const NAME_COLUMNS = [
  { of: "ha_cluster", title: "Cluster" },
  { of: "vip", title: "VIP" },
  { of: "vhid", title: "VHID", width: 80 },
] as const;

function transitions(range: string): string {
  return `round(max by (${MEMBER}) (increase(vrrp_transitions_total{${OF_APPLIANCE}}[${range}])))`;
}

export const VRRP: Row = {
  id: 200,
  title: "VRRP",
  collapsed: false,
  size: [12, 9],
  panels: [
    timeline({
      size: [24, 8],
      title: "State of each group",
      description:
        "The state of each VRRP group, as the exporters judge it. If they differ, the worst counts. A gap: no exporter was scraped. Empty if no cluster has two appliances.",
      runbook: "VrrpSplitBrain",
      expr: GROUP_STATE,
      legend: NAME,
      mappings: [valueMap(GROUP_STATES)],
    }),
    timeline({
      size: [24, 10],
      title: "Who was master when",
      description:
        "What each member reported. A gap: its list was not known. With several exporters, one that sees MASTER is enough. Empty if no member was seen.",
      runbook: "VrrpFailover",
      expr: MEMBER_STATE,
      legend: MEMBER_NAME,
      mappings: [valueMap(MEMBER_STATES)],
    }),
    table({
      title: "Groups now",
      description:
        "The state of each group, since when, and the one known master. Preferred: whether it is the preferred member; empty if that is unknown. Empty if no cluster has two appliances, and while no exporter is scraped.",
      runbook: "VrrpSplitBrain",
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
        { of: 0, title: "State", width: 220, mappings: [valueMap(GROUP_STATES)] },
        { of: "appliance", title: "Master" },
        { of: 1, title: "Since", unit: "dateTimeFromNow" },
        {
          of: 2,
          title: "Preferred",
          width: 100,
          mappings: [
            valueMap([
              { value: 1, text: "yes", color: COLOR.good },
              { value: 0, text: "no", color: COLOR.warning },
            ]),
          ],
        },
      ],
    }),
    table({
      title: "Members now",
      description:
        "State, reported priority, last change of state, and the number of changes within the range. Cells are empty while unknown. Empty while no exporter is scraped.",
      runbook: "VrrpFailover",
      queries: [
        MEMBER_STATE,
        PRIORITY,
        `1000 * max by (${MEMBER}) (vrrp_last_transition_timestamp_seconds{${OF_APPLIANCE}})`,
        `${transitions("$__range")}
and on (${APPLIANCE}) appliance_up{${OF_APPLIANCE}}`,
      ],
      sortBy: "Cluster",
      emptyText: "No member is known",
      columns: [
        ...NAME_COLUMNS,
        { of: "appliance", title: "Appliance" },
        { of: 0, title: "State", width: 110, mappings: [valueMap(MEMBER_STATES)] },
        { of: 1, title: "Priority", width: 90 },
        { of: 2, title: "Changed", unit: "dateTimeFromNow" },
        { of: 3, title: "Changes", width: 90 },
      ],
    }),
    graph({
      title: "Priorities",
      description: "The priority that each member reports. A gap while unknown; empty while none is known.",
      runbook: "VrrpPreferredMasterLost",
      unit: "none",
      decimals: 0,
      max: 255,
      style: "steps",
      lines: [{ expr: PRIORITY, legend: MEMBER_NAME }],
    }),
    graph({
      title: "Transitions",
      description:
        "Changes of state of each member over a short window, so one change shows in several bars. A failover changes two members. A gap while unknown; empty while none is known.",
      runbook: "VrrpFailover",
      unit: "none",
      decimals: 0,
      style: "bars",
      lines: [{ expr: transitions("$__rate_interval"), legend: MEMBER_NAME }],
    }),
  ],
};
