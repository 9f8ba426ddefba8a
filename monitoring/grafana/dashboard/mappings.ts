import {
  MappingType,
  SpecialValueMatch,
  type RangeMap,
  type RegexMap,
  type SpecialValueMap,
  type ValueMap,
  type ValueMappingResult,
} from "@grafana/grafana-foundation-sdk/dashboard";

/** One value of a state, in words and in a colour. */
export interface Shown {
  readonly value: number;
  readonly text: string;
  readonly color: string;
}

/** Words and colours for values, in this order in legends. */
export function valueMap(states: readonly Shown[]): ValueMap {
  const results = states.map(({ value, text, color }, index) => [value, { text, color, index }] as const);
  return { type: MappingType.ValueToText, options: Object.fromEntries(results) };
}

/** From `from` to `to`, both included; without a text the number itself is shown. */
export function rangeMap(from: number | null, to: number | null, result: ValueMappingResult): RangeMap {
  return { type: MappingType.RangeToText, options: { from, to, result } };
}

export function regexMap(pattern: string, result: ValueMappingResult): RegexMap {
  return { type: MappingType.RegexToText, options: { pattern, result } };
}

/** Where there is no value. */
export function absentMap(result: ValueMappingResult): SpecialValueMap {
  return { type: MappingType.SpecialValue, options: { match: SpecialValueMatch.NullAndNan, result } };
}
