import type { Shown } from "./mappings.ts";
import { PALETTE } from "./palette.ts";
import { APPLIANCE, firstOf, GROUP, IN_CLUSTER, MEMBER, OF_APPLIANCE, seenInRange } from "./promql.ts";

const MASTERS = `vrrp_group_masters{${IN_CLUSTER}}`;
const BACKUPS = `vrrp_group_backups{${IN_CLUSTER}}`;
const UNKNOWN = `vrrp_group_unknown_members{${IN_CLUSTER}}`;

interface GroupState extends Shown {
  /** True of the series of one exporter; several of them may poll the same group. */
  readonly when: string;
}

export const SPLIT_BRAIN = `${MASTERS} >= 2`;
export const NO_MASTER = `${MASTERS} == 0 and ${UNKNOWN} == 0`;
export const MASTER_UNKNOWN = `${MASTERS} == 0 and ${UNKNOWN} > 0`;
export const NO_BACKUP = `${MASTERS} == 1 and ${BACKUPS} == 0 and ${UNKNOWN} == 0`;
/** Some exporter knows all members of the group, or a master of it. */
export const MASTER_KNOWN = `${MASTERS} > 0 or ${UNKNOWN} == 0`;

/**
 * What can be true of a group; where exporters differ, the first in this order counts. What one of them knows comes
 * before what another does not know, and a group of which a member is unknown is never healthy.
 */
const STATES: readonly GroupState[] = [
  { value: 5, text: "split brain", color: PALETTE.bad, when: SPLIT_BRAIN },
  { value: 4, text: "no master", color: PALETTE.bad, when: NO_MASTER },
  { value: 3, text: "no backup", color: PALETTE.warning, when: NO_BACKUP },
  {
    value: 1,
    text: "one master, backed up",
    color: PALETTE.good,
    when: `${MASTERS} == 1 and ${BACKUPS} > 0 and ${UNKNOWN} == 0`,
  },
  {
    value: 2,
    text: "one master, a member unknown",
    color: PALETTE.unknown,
    when: `${MASTERS} == 1 and ${UNKNOWN} > 0`,
  },
  { value: 0, text: "master unknown", color: PALETTE.unknown, when: MASTER_UNKNOWN },
];

export const GROUP_STATES: readonly Shown[] = STATES;

/** One of `GROUP_STATES` for each group; no value while no exporter is scraped. */
export const GROUP_STATE = firstOf(
  ...STATES.map(({ value, when }) => `${value} * group by (${GROUP}) (${when})`),
);

export const MEMBER_STATES: readonly Shown[] = [
  { value: 1, text: "MASTER", color: PALETTE.good },
  { value: 0, text: "BACKUP", color: PALETTE.standby },
  { value: 2, text: "neither", color: PALETTE.warning },
  { value: -1, text: "unknown", color: PALETTE.unknown },
];

/** A member that was seen within the range and whose appliance cannot be polled now. */
const LOST_MEMBERS = `${seenInRange(MEMBER, `vrrp_is_master{${OF_APPLIANCE}}`)}
  and on (${APPLIANCE}) appliance_up{${OF_APPLIANCE}} == 0`;

/** One of `MEMBER_STATES` for each member of each group; no value while no exporter is scraped. */
export const MEMBER_STATE = firstOf(
  `group by (${MEMBER}) (vrrp_is_master{${OF_APPLIANCE}} == 1)`,
  `0 * group by (${MEMBER}) (vrrp_state{${OF_APPLIANCE}, state="BACKUP"} == 1)`,
  `2 * group by (${MEMBER}) (vrrp_is_master{${OF_APPLIANCE}})`,
  `-1 * (${LOST_MEMBERS})`,
);
