import { parseExposition } from "../exporter/metrics/strict-parser.ts";

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** The unparsed line. */
  readonly line: string;
}

/** A parsed exposition; `labels` select the samples with these labels. */
export interface Samples {
  readonly text: string;
  all(name: string, labels?: Sample["labels"]): readonly Sample[];
  /** The value of the single selected sample; `undefined` if there is none. */
  value(name: string, labels?: Sample["labels"]): number | undefined;
  /** All lines for this appliance with this name prefix. */
  linesOf(appliance: string, namePrefix: string): readonly string[];
}

/** Parses an exposition, which must be valid. */
export function parseSamples(text: string): Samples {
  const samples = parseExposition(text).flatMap((family) =>
    family.samples.map(({ name, labels, value, series }): Sample => {
      return { name, labels: Object.fromEntries(labels), value, line: `${series} ${value}` };
    }),
  );
  const all: Samples["all"] = (name, wanted = {}) =>
    samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(wanted).every(([label, value]) => sample.labels[label] === value),
    );
  return {
    text,
    all,
    value: (name, wanted) => {
      const [found, ...others] = all(name, wanted);
      if (others.length > 0)
        throw new Error(`${name} ${JSON.stringify(wanted)} selects more than one sample`);
      return found?.value;
    },
    linesOf: (appliance, namePrefix) =>
      samples
        .filter(({ name, labels }) => name.startsWith(namePrefix) && labels["appliance"] === appliance)
        .map(({ line }) => line),
  };
}
