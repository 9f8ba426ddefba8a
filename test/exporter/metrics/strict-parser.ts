/** A metric family as its text says it is. */
export interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ParsedSample[];
}

export interface ParsedSample {
  /** The family's name, or for a histogram that name with a suffix. */
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  /** The text before the value: the series. */
  readonly series: string;
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/;
const VALUE = /^-?\d+(\.\d+)?(e[+-]\d+)?$/;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\", '"': '"', n: "\n" };

/**
 * Reads the text format 0.0.4 as strictly as it can be read: every family once, HELP, TYPE, then its samples; every
 * series once; no comments, timestamps or values that are no plain numbers. Blank lines are passed over.
 *
 * @throws on anything else
 */
export function parseExposition(text: string): readonly ParsedFamily[] {
  const families = new Map<string, { name: string; type: string; help: string; samples: ParsedSample[] }>();
  const series = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const lines = text.split("\n").filter((line) => line !== "");
  for (let at = 0; at < lines.length;) {
    const [, name = "", help = ""] = match(HELP, lines[at++]);
    const [, typed = "", type = ""] = match(TYPE, lines[at++]);
    if (typed !== name) throw new Error(`HELP of ${name} is followed by TYPE of ${typed}`);
    if (families.has(name)) throw new Error(`${name} is there twice`);
    const samples: ParsedSample[] = [];
    families.set(name, { name, type, help, samples });
    while (at < lines.length && !(lines[at] ?? "").startsWith("#")) {
      const sample = parseSample(lines[at++] ?? "");
      if (!belongs(sample.name, name, type)) throw new Error(`${sample.name} is among ${name}`);
      const identity = JSON.stringify([
        sample.name,
        [...sample.labels].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ]);
      if (series.has(identity)) throw new Error(`${identity} is there twice`);
      series.add(identity);
      samples.push(sample);
    }
  }
  return [...families.values()];
}

function belongs(name: string, family: string, type: string): boolean {
  if (type !== "histogram") return name === family;
  return ["_bucket", "_sum", "_count"].some((suffix) => name === family + suffix);
}

function match(pattern: RegExp, line = ""): RegExpExecArray {
  const found = pattern.exec(line);
  if (found === null) throw new Error(`unexpected line ${JSON.stringify(line)}`);
  return found;
}

function parseSample(line: string): ParsedSample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0] ?? "";
  const { labels, end } =
    line[name.length] === "{" ? parseLabels(line, name.length + 1) : { labels: new Map(), end: name.length };
  const value = line.slice(end + 1);
  if (name === "" || line[end] !== " " || !VALUE.test(value))
    throw new Error(`unexpected sample ${JSON.stringify(line)}`);
  return { name, labels, value: Number(value), series: line.slice(0, end) };
}

function parseLabels(line: string, start: number): { labels: ReadonlyMap<string, string>; end: number } {
  const labels = new Map<string, string>();
  let at = start;
  for (;;) {
    const name = /^[a-zA-Z_][a-zA-Z0-9_]*(?==")/.exec(line.slice(at))?.[0];
    if (name === undefined || labels.has(name))
      throw new Error(`unexpected label in ${JSON.stringify(line)}`);
    const { value, end } = parseQuoted(line, at + name.length + 2);
    labels.set(name, value);
    if (line[end] === "}") return { labels, end: end + 1 };
    if (line[end] !== ",") throw new Error(`unexpected end of labels in ${JSON.stringify(line)}`);
    at = end + 1;
  }
}

function parseQuoted(line: string, start: number): { value: string; end: number } {
  let value = "";
  for (let at = start; at < line.length; at += 1) {
    const char = line[at];
    if (char === '"') return { value, end: at + 1 };
    if (char !== "\\") value += char;
    else {
      at += 1;
      const escaped = ESCAPES[line[at] ?? ""];
      if (escaped === undefined) throw new Error(`unexpected escape in ${JSON.stringify(line)}`);
      value += escaped;
    }
  }
  throw new Error(`a label's value has no end in ${JSON.stringify(line)}`);
}
