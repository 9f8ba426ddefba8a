import {
  LegendDisplayMode,
  LegendPlacement,
  TimelineValueAlignment,
  VisibilityMode,
} from "@grafana/grafana-foundation-sdk/common";
import type { ValueMapping } from "@grafana/grafana-foundation-sdk/dashboard";
import { FieldColorBuilder, FieldColorModeId } from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/statetimeline";
import { VizLegendOptionsBuilder } from "@grafana/grafana-foundation-sdk/common";
import { rangeQueries, sized, type Line, type PanelText, type SizedPanel } from "./panel.ts";

interface Timeline extends PanelText, Line {
  readonly mappings: readonly ValueMapping[];
}

/** A row of states for each series; where a series has no value there is a gap, never the state before. */
export function timeline({ mappings, ...text }: Timeline): SizedPanel {
  const kind = new PanelBuilder()
    .targets(rangeQueries([text]))
    .mappings([...mappings])
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .spanNulls(false)
    .insertNulls(false)
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .alignValue(TimelineValueAlignment.Left)
    .rowHeight(0.85)
    .fillOpacity(85)
    .perPage(20)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    );
  return sized(text, kind);
}
