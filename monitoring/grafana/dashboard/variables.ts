import {
  ConstantVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
  type VariableModel,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DATASOURCE } from "./datasource.ts";
import { IN_CLUSTER, OF_APPLIANCE } from "./promql.ts";

/** In the order in which they depend on each other. */
export function variables(): readonly VariableModel[] {
  return [
    new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus").build(),
    labelValues("cluster", "Cluster", "appliance_up", "ha_cluster"),
    labelValues("appliance", "Appliance", `appliance_up{${IN_CLUSTER}}`, "appliance"),
    labelValues(
      "website",
      "Website",
      `appliance_poll_success{${OF_APPLIANCE}, operation="website_test"}`,
      "website",
    ),
    constant(
      "runbook_url",
      "https://appliance-exporter.example/docs/runbook.md",
      "Where people who look at this dashboard find docs/runbook.md.",
    ),
    constant(
      "status_url",
      "http://localhost:10849/",
      "The exporter's status page as browsers reach it, through whatever proxies stand before it.",
    ),
  ];
}

/** Many may be chosen, or all; all is a pattern, so that what appears later is there at once. */
function labelValues(name: string, title: string, series: string, label: string): VariableModel {
  const query = `label_values(${series}, ${label})`;
  return new QueryVariableBuilder(name)
    .label(title)
    .datasource(DATASOURCE)
    .query({ query, refId: `variable-${name}` })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
    .multi(true)
    .includeAll(true)
    .allValue(".*")
    .current({ selected: true, text: ["All"], value: ["$__all"] })
    .build();
}

/** Not taken from the dashboard's address: nobody can send a link that leads others astray. */
function constant(name: string, value: string, description: string): VariableModel {
  const built = new ConstantVariableBuilder(name).description(description).value(value).build();
  return { ...built, skipUrlSync: true };
}
