import type { ClusterVerdict } from "../status/verdict.ts";
import { groupBy } from "../support/group-by.ts";
import { inSlices } from "../support/slices.ts";
import { LONG_TEXT, type LongText, type Text } from "../support/long-text.ts";
import { FLEET_FAMILIES } from "./families.ts";
import { labelsOf, type Families, type Labels, type Part, type Sample } from "./family.ts";

/** The fleet as text. @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export interface FleetExposition {
  /**
   * `preamble` and all of these clusters, made in slices; what was rendered before is kept. What a bug prevents from being
   * rendered is absent.
   */
  render(preamble: string, clusters: readonly ClusterVerdict[]): Promise<LongText>;
}

/** A family that has samples of a kind of part, and its place in the exposition. */
interface Source {
  readonly name: string;
  readonly place: number;
  readonly samplesOf: (part: Part) => readonly Sample[];
}

/** One text for each source of the part's kind. */
type Texts = readonly Text[];

export interface ExpositionOptions {
  readonly families?: Families;
  /** Called with an error of the families; default: throws it. */
  readonly onBug?: (error: unknown) => void;
}

export function createFleetExposition({
  families = FLEET_FAMILIES,
  onBug,
}: ExpositionOptions = {}): FleetExposition {
  const headers = Object.entries(families).map(
    ([name, { type, help }]) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
  );
  const sources = sourcesByKind(families);
  /** By cluster; changed in place, since arrays made for each scrape would be moved by the collector. */
  const rendered = new Map<string, Rendered>();
  function textsOf(part: Part | undefined): Texts {
    if (part === undefined) return [];
    try {
      return render(sources.get(part.kind) ?? [], part);
    } catch (error) {
      if (onBug === undefined) throw error;
      onBug(error);
      return [];
    }
  }
  return {
    render: async (preamble, verdicts) => {
      const lists = headers.map((header): Text[] => [header]);
      let length = preamble.length + headers.join("").length;
      await inSlices(verdicts, (verdict) => {
        const { cluster } = verdict.facts;
        const latest = partsOf(verdict);
        const { parts, texts } = rendered.get(cluster) ?? { parts: [], texts: [] };
        rendered.set(cluster, { parts, texts });
        parts.length = latest.length;
        for (const [at, part] of latest.entries()) {
          if (part !== parts[at]) texts[at] = textsOf(part);
          parts[at] = part;
          const own = (part && sources.get(part.kind)) ?? [];
          for (const [nth, text] of (texts[at] ?? []).entries()) {
            if (text.length > 0) lists[own[nth]?.place ?? 0]?.push(text);
            length += text.length;
          }
        }
        texts.length = latest.length;
      });
      const clusters = new Set(verdicts.map(({ facts }) => facts.cluster));
      for (const cluster of rendered.keys()) if (!clusters.has(cluster)) rendered.delete(cluster);
      return { lists: [[preamble], ...lists.filter((list) => list.length > 1)], length };
    },
  };
}

/** What was made of a cluster last: a text that is asked for again is found by its place. */
interface Rendered {
  readonly parts: (Part | undefined)[];
  readonly texts: Texts[];
}

function sourcesByKind(families: Families): ReadonlyMap<string, readonly Source[]> {
  const all = Object.entries(families).flatMap(([name, { samples }], place) =>
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

/** In the order of the configuration; `undefined` in place of what is not known now. */
function partsOf(verdict: ClusterVerdict): readonly (Part | undefined)[] {
  const { facts, appliances, groups, websites } = verdict;
  return [
    ...appliances.values(),
    ...websites.values(),
    ...groups.values(),
    ...facts.appliances.flatMap(({ vrrp, websites: tests, totals, discovery, found, anomalies }) => [
      vrrp,
      vrrp.list,
      ...tests.flatMap((test) => [test, test.found]),
      discovery,
      ...found,
      anomalies,
      totals,
    ]),
    verdict,
  ];
}

function render(sources: readonly Source[], part: Part): Texts {
  const common = labelsOf(part).map(labelText);
  return sources.map(({ name, samplesOf }) => {
    // Joined at once into a flat text: one that only chains pieces together would keep them all.
    const text = samplesOf(part)
      .flatMap(({ labels, value }) => {
        return [name, "{", [...common, ...labels.map(labelText)].join(","), "} ", String(value), "\n"];
      })
      .join("");
    return text.length > LONG_TEXT ? Buffer.from(text) : text;
  });
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
