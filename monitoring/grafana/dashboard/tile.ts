import {
  BigValueColorMode,
  BigValueGraphMode,
  ReduceDataOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import type { ValueMapping } from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { absentMap, rangeMap, valueMap } from "./mappings.ts";
import { PALETTE } from "./palette.ts";
import { instantQueries, sized, type PanelText, type SizedPanel } from "./panel.ts";

interface Tile extends PanelText {
  readonly expr: string;
  /** The colour of any number above 0; at 0 it says `none`. */
  readonly color: string;
}

const NOT_KNOWN = "not known";

/** How many of something bad there are now; where that is not known, it says so. */
export function tile({ expr, color, ...text }: Tile): SizedPanel {
  const kind = new PanelBuilder()
    .targets(instantQueries([{ expr, legend: text.title }]))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]).values(false))
    .colorMode(BigValueColorMode.BackgroundSolid)
    .graphMode(BigValueGraphMode.None)
    .noValue(NOT_KNOWN)
    .mappings(countMappings(color));
  return sized(text, kind);
}

function countMappings(color: string): ValueMapping[] {
  return [
    valueMap([{ value: 0, text: "none", color: PALETTE.good }]),
    rangeMap(1, null, { color }),
    absentMap({ text: NOT_KNOWN, color: PALETTE.unknown }),
  ];
}
