import { graph } from "../graph.ts";
import { GROUP_STATE, GROUP_STATES, MEMBER_STATE, MEMBER_STATES } from "../groups.ts";
import { valueMap } from "../mappings.ts";
import { PALETTE } from "../palette.ts";
import type { Row } from "../panel.ts";
import { APPLIANCE, GROUP, IN_CLUSTER, MEMBER, OF_APPLIANCE } from "../promql.ts";
import { RUNBOOK } from "../runbook.ts";
import { table, type Column } from "../table.ts";
import { timeline } from "../timeline.ts";

const NAME = "{{ha_cluster}} {{vip}} vhid {{vhid}}";
const GROUP_MAPPINGS = [valueMap(GROUP_STATES)];
const MEMBER_MAPPINGS = [valueMap(MEMBER_STATES)];

const NAME_COLUMNS: readonly Column[] = [
  { of: "ha_cluster", title: "Cluster" },
  { of: "vip", title: "VIP" },
  { of: "vhid", title: "VHID", width: 80 },
];

export const VRRP: Row = {
  id: 200,
  title: "VRRP",
  collapsed: false,
  panels: [
    timeline({
      id: 201,
      width: 24,
      height: 8,
      title: "State of each group",
      description:
        "What the members of each VRRP group say, taken together. A group is well only where all its members are known. A gap means that no exporter was scraped: nothing is known of that time. Empty where no cluster has two appliances.",
      runbook: RUNBOOK.splitBrain,
      expr: GROUP_STATE,
      legend: NAME,
      mappings: GROUP_MAPPINGS,
    }),
    timeline({
      id: 202,
      width: 24,
      height: 10,
      title: "Who was master when",
      description:
        "What each member of each group reported: MASTER, BACKUP, or neither of these words. “unknown” while it could not be polled, if it was seen within the range that is shown; a gap where nothing is known at all, because no exporter was scraped or the member was not seen before. With several exporters, MASTER counts where any of them sees it. Empty where no member was seen.",
      runbook: RUNBOOK.failover,
      expr: MEMBER_STATE,
      legend: `${NAME}: {{appliance}}`,
      mappings: MEMBER_MAPPINGS,
    }),
    table({
      id: 203,
      width: 12,
      height: 9,
      title: "Groups now",
      description:
        "How many members of each group are known to be MASTER, known to be BACKUP, and not known. Preferred: whether the one master is the preferred member; empty unless there is exactly one and something tells which is preferred. With several exporters the highest of each number stands here. Empty where no cluster has two appliances, and while no exporter is scraped.",
      runbook: RUNBOOK.splitBrain,
      queries: [
        GROUP_STATE,
        `max by (${GROUP}) (vrrp_group_masters{${IN_CLUSTER}})`,
        `max by (${GROUP}) (vrrp_group_backups{${IN_CLUSTER}})`,
        `max by (${GROUP}) (vrrp_group_unknown_members{${IN_CLUSTER}})`,
        `min by (${GROUP}) (vrrp_group_preferred_master{${IN_CLUSTER}})`,
      ],
      sortBy: "Cluster",
      emptyText: "No group is known",
      columns: [
        ...NAME_COLUMNS,
        { of: 0, title: "State", width: 220, mappings: GROUP_MAPPINGS },
        { of: 1, title: "Masters", width: 90 },
        { of: 2, title: "Backups", width: 90 },
        { of: 3, title: "Unknown", width: 90 },
        {
          of: 4,
          title: "Preferred",
          width: 100,
          mappings: [
            valueMap([
              { value: 1, text: "yes", color: PALETTE.good },
              { value: 0, text: "no", color: PALETTE.warning },
            ]),
          ],
        },
      ],
    }),
    table({
      id: 204,
      width: 12,
      height: 9,
      title: "Members now",
      description:
        "Each member of each group: its state, its priority as reported (empty while unknown), when its state last changed (empty before the first change that was seen, and while unknown), and how often it changed within the range. A member that was never seen is not here; “Groups now” counts it as unknown. Empty while no exporter is scraped.",
      runbook: RUNBOOK.failover,
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
        { of: 0, title: "State", width: 110, mappings: MEMBER_MAPPINGS },
        { of: 1, title: "Priority", width: 90 },
        { of: 2, title: "Changed", unit: "dateTimeFromNow" },
        { of: 3, title: "Changes", width: 90 },
      ],
    }),
    graph({
      id: 205,
      width: 12,
      height: 9,
      title: "Priorities",
      description:
        "The priority that each member reports, 0 to 255. A gap while the member is unknown; empty while none is known or reports one.",
      runbook: RUNBOOK.notPreferred,
      unit: "none",
      decimals: 0,
      max: 255,
      style: "steps",
      lines: [
        { expr: `max by (${MEMBER}) (vrrp_priority{${OF_APPLIANCE}})`, legend: `${NAME}: {{appliance}}` },
      ],
    }),
    graph({
      id: 206,
      width: 12,
      height: 9,
      title: "Transitions",
      description:
        "Changes of state of each member, counted against its last good poll over a short window, so that one change stands in neighbouring bars. A failover is a change of two members. A gap while the member is unknown; empty while none is known.",
      runbook: RUNBOOK.failover,
      unit: "none",
      decimals: 0,
      style: "bars",
      lines: [
        {
          expr: `round(max by (${MEMBER}) (increase(vrrp_transitions_total{${OF_APPLIANCE}}[$__rate_interval])))`,
          legend: `${NAME}: {{appliance}}`,
        },
      ],
    }),
  ],
};
