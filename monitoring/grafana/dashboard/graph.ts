import {
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  LineInterpolation,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import { FieldColorBuilder, FieldColorModeId } from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { rangeQueries, sized, type Line, type PanelText, type SizedPanel } from "./panel.ts";

interface Graph extends PanelText {
  readonly lines: readonly Line[];
  readonly unit: string;
  /** `bars`: counts of events, stacked; default: lines. */
  readonly style?: "steps" | "bars";
  readonly decimals?: number;
  readonly max?: number;
}

/** Values over time, from 0 up; where a series has no value there is a gap. */
export function graph({ lines, unit, style, decimals, max, ...text }: Graph): SizedPanel {
  const kind = new PanelBuilder()
    .targets(rangeQueries(lines))
    .unit(unit)
    .min(0)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName))
    .spanNulls(false)
    .showPoints(VisibilityMode.Never)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .calcs(["lastNotNull", "max"]),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  if (decimals !== undefined) kind.decimals(decimals);
  if (max !== undefined) kind.max(max);
  if (style === "steps") kind.lineInterpolation(LineInterpolation.StepAfter);
  if (style === "bars")
    kind
      .drawStyle(GraphDrawStyle.Bars)
      .fillOpacity(60)
      .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group("A"));
  return sized(text, kind);
}
