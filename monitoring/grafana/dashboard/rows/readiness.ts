import { FAILOVER_STATE, FAILOVER_STATES, OF_APPLIANCE } from "../expressions.ts";
import { COLOR, table, timeline, type Row, type State } from "../panels.ts";

const EFFECTS: readonly State[] = [
  { value: "outage", text: "outage", color: COLOR.bad },
  { value: "loss", text: "loss", color: COLOR.warning },
  { value: "uncertain", text: "uncertain", color: COLOR.unknown },
  { value: "none", text: "none", color: COLOR.good },
];

export const READINESS: Row = {
  title: "Readiness of failovers",
  collapsed: false,
  panels: [
    timeline({
      title: "Failovers that were not ready",
      description:
        "What would have happened if a master had stopped, for those that were not ready at some time within the range, as the exporters judge it. If they differ, the worst counts. A gap: the appliance was no master, or no exporter was scraped. Empty if all were ready.",
      expr: FAILOVER_STATE,
      legend: "{{ha_cluster}} {{appliance}}",
      states: FAILOVER_STATES,
    }),
    table({
      title: "Risks of failovers now",
      description:
        "What would go wrong, or may, if the appliance stopped now, the worst 50 risks of each. The effect none: visitors would lose nothing. Empty if there is no risk, and while no exporter is scraped.",
      queries: [
        `group by (ha_cluster, appliance, successor, risk, effect, subject) (failover_risk_info{${OF_APPLIANCE}})`,
      ],
      sortBy: "Cluster",
      emptyText: "No risk is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "appliance", title: "Appliance" },
        { of: "effect", title: "Effect", states: EFFECTS },
        { of: "risk", title: "Risk" },
        { of: "subject", title: "Subject" },
        { of: "successor", title: "Successor" },
      ],
    }),
  ],
};
