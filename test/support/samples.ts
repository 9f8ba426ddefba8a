/** One line of an exposition. */
export interface Sample {
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

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^]*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(?:,|$)/y;
const UNESCAPED: Readonly<Record<string, string>> = { "\\\\": "\\", '\\"': '"', "\\n": "\n" };

/**
 * Parses an exposition, which must be valid: every line well-formed, no duplicate series, every value a number.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function parseSamples(text: string): Samples {
  if (!text.endsWith("\n")) throw new Error("the exposition does not end in a line feed");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const samples = lines.map(parseLine);
  const series = new Set(samples.map(({ name, labels }) => seriesKey(name, labels)));
  if (series.size !== samples.length) throw new Error("a series stands there twice");

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

function parseLine(line: string): Sample {
  const [, name = "", labelText = "", digits = ""] = LINE.exec(line) ?? [];
  const value = Number(digits.replace("Inf", "Infinity"));
  if (name === "" || digits === "" || Number.isNaN(value)) throw new Error(`no sample: ${line}`);
  return { name, labels: parseLabels(labelText), value, line };
}

/** Independent of the order of labels. */
function seriesKey(name: string, labels: Sample["labels"]): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([name, sorted]);
}

function parseLabels(text: string): Sample["labels"] {
  const labels: [string, string][] = [];
  let end = 0;
  while (end < text.length) {
    LABEL.lastIndex = end;
    const match = LABEL.exec(text);
    if (match === null) throw new Error(`no labels: ${text}`);
    const [whole, name = "", value = ""] = match;
    labels.push([name, value.replace(/\\./g, (escape) => UNESCAPED[escape] ?? escape)]);
    end += whole.length;
  }
  return Object.fromEntries(labels);
}
