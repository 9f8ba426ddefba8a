import type { ClusterVerdict } from "../status/judge.ts";
import { groupBy } from "../support/group-by.ts";
import { once } from "../support/once.ts";
import { inSlices } from "../support/slices.ts";
import { FLEET_FAMILIES } from "./families.ts";
import { commonLabels, type Family, type Labels, type Part, type Sample } from "./family.ts";

/** The fleet as text. @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export interface FleetExposition {
  /**
   * `preamble` and all of these clusters in UTF-8, made in slices; what was rendered before is only joined. What a bug
   * prevents from being rendered is absent.
   */
  render(preamble: string, clusters: readonly ClusterVerdict[]): Promise<Buffer>;
}

/** Long text is kept as UTF-8 outside of the heap, where one wide character would double it. */
type Text = string | Buffer;
const LONG_TEXT = 16 * 1024;

/** A family that has samples of a kind of part, and its place in the exposition. */
interface Source {
  readonly name: string;
  readonly place: number;
  readonly samplesOf: (part: Part) => readonly Sample[];
}

/** One text for each source of the part's kind. */
type Texts = readonly Text[];

export interface ExpositionOptions {
  readonly families?: readonly Family[];
  /** Called with an error of the families; default: throws it. */
  readonly onBug?: (error: unknown) => void;
}

export function createFleetExposition({
  families = FLEET_FAMILIES,
  onBug = rethrow,
}: ExpositionOptions = {}): FleetExposition {
  const headers = families.map(({ name, type, help }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
  const sources = sourcesByKind(families);
  const textsOf = once((part: Part): Texts => {
    try {
      return render(sources.get(part.kind) ?? [], part);
    } catch (error) {
      onBug(error);
      return [];
    }
  });
  return {
    render: async (preamble, verdicts) => {
      const texts = headers.map((): Text[] => []);
      await inSlices(verdicts, (verdict) => {
        for (const part of [...partsOf(verdict), verdict]) {
          const own = textsOf(part);
          for (const [nth, { place }] of (sources.get(part.kind) ?? []).entries()) {
            const text = own[nth] ?? "";
            if (text.length > 0) texts[place]?.push(text);
          }
        }
      });
      const chunks: Buffer[] = [Buffer.from(preamble)];
      for (const [place, header] of headers.entries()) {
        const samples = texts[place] ?? [];
        if (samples.length > 0) chunks.push(Buffer.from(header));
        await inSlices(chunksOf(samples), (chunk) => chunks.push(chunk));
      }
      return concatenated(chunks);
    },
  };
}

function rethrow(error: unknown): never {
  throw error;
}

function sourcesByKind(families: readonly Family[]): ReadonlyMap<string, readonly Source[]> {
  const all = families.flatMap(({ name, samples }, place) =>
    Object.entries(samples).map(([kind, samplesOf]) => ({
      kind,
      name,
      place,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries loses the kind; it is called with parts of this kind only
      samplesOf: samplesOf as Source["samplesOf"],
    })),
  );
  return groupBy(all, ({ kind }) => kind);
}

/** In the order of the configuration, without the cluster itself, which changes with every poll. */
function partsOf({ facts, appliances, groups, websites }: ClusterVerdict): readonly Part[] {
  return [
    ...appliances.values(),
    ...websites.values(),
    ...groups.values(),
    ...facts.appliances.flatMap(({ vrrp, websites: tests, totals }) =>
      [vrrp, vrrp.list ?? [], ...tests.flatMap((test) => [test, test.found ?? []]), totals].flat(),
    ),
  ];
}

function render(sources: readonly Source[], part: Part): Texts {
  const textOf = labelTexts(part);
  return sources.map(({ name, samplesOf }) => {
    // Joined at once into a flat text: one that only chains pieces together would keep them all.
    const text = samplesOf(part)
      .flatMap(({ labels, state, value }) => {
        const last = state === undefined ? "} " : `,state="${state}"} `;
        return [name, "{", textOf(labels), last, String(value), "\n"];
      })
      .join("");
    return text.length > LONG_TEXT ? Buffer.from(text) : text;
  });
}

/** Families that share the labels of a sample share their text. */
function labelTexts(part: Part): (labels: Labels) => string {
  const common = commonLabels(part).map(labelText);
  const texts = new Map<Labels, string>();
  return (labels) => {
    const known = texts.get(labels) ?? [...common, ...labels.map(labelText)].join(",");
    texts.set(labels, known);
    return known;
  };
}

function labelText([name, value]: Labels[number]): string {
  return `${name}="${escapeLabelValue(value)}"`;
}

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information */
function escapeLabelValue(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`);
}

/** Strings are joined first, since each conversion to bytes has a cost of its own. */
function* chunksOf(texts: readonly Text[]): Generator<Buffer> {
  let gathered = "";
  for (const text of texts) {
    if (typeof text === "string") gathered += text;
    if (typeof text !== "string" || gathered.length > LONG_TEXT) {
      yield Buffer.from(gathered);
      gathered = "";
    }
    if (typeof text !== "string") yield text;
  }
  yield Buffer.from(gathered);
}

/** As Buffer.concat, in slices. */
async function concatenated(chunks: readonly Buffer[]): Promise<Buffer> {
  const all = Buffer.allocUnsafe(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  await inSlices(chunks, (chunk) => {
    at += chunk.copy(all, at);
  });
  return all;
}
