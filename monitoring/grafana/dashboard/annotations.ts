import type { AnnotationQuery } from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { DATASOURCE } from "./datasource.ts";
import { PALETTE } from "./palette.ts";
import { GROUP, IN_CLUSTER, MEMBER } from "./promql.ts";

const MASTER = `vrrp_is_master{${IN_CLUSTER}}`;

/**
 * The one master of each group that has had another within five minutes. Told from who is master, not from our counters
 * of transitions: those miss a failover while the exporter restarts.
 */
const FAILOVER = `group by (${MEMBER}) (${MASTER} == 1)
and on (${GROUP}) count by (${GROUP}) (group by (${MEMBER}) (${MASTER} == 1)) == 1
and on (${GROUP}) count by (${GROUP}) (max by (${MEMBER}) (max_over_time(${MASTER}[5m])) == 1) > 1`;

export function annotations(): readonly AnnotationQuery[] {
  return [
    annotation("Failovers", PALETTE.warning, FAILOVER, {
      titleFormat: "Failover of {{vip}} in {{ha_cluster}}",
      textFormat: "{{appliance}} is master, which another was less than five minutes before",
    }),
    annotation(
      "Configuration loaded",
      PALETTE.standby,
      "1000 * appliance_exporter_config_last_reload_success_timestamp_seconds",
      {
        titleFormat: "Configuration loaded",
        textFormat: "by {{instance}}, at its start or while it ran",
        useValueForTime: true,
      },
    ),
    annotation(
      "Configuration refused",
      PALETTE.bad,
      "appliance_exporter_config_last_reload_successful == bool 0",
      { titleFormat: "Configuration refused", textFormat: "by {{instance}}; the one before still runs" },
    ),
  ];
}

/** An event wherever the query's value is above 0; values at neighbouring steps are one event. */
function annotation(
  name: string,
  iconColor: string,
  expr: string,
  text: Pick<AnnotationQuery, "titleFormat" | "textFormat" | "useValueForTime">,
): AnnotationQuery {
  const target = new DataqueryBuilder()
    .refId("Anno")
    .datasource(DATASOURCE)
    .expr(expr)
    .interval("15s")
    .range();
  return { name, datasource: DATASOURCE, enable: true, iconColor, target: target.build(), ...text };
}
