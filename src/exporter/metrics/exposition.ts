import type { ClusterIncidents } from "../story/incident.ts";
import type { ClusterVerdict } from "../judge/verdict.ts";
import { groupBy } from "../../support/group-by.ts";
import { inSlices } from "../../support/slices.ts";
import type { LongText } from "../../support/long-text.ts";
import { FLEET_FAMILIES } from "./families.ts";
import { labelsOf, partsOf, type Families, type Labels, type Part, type Sample } from "./family.ts";

/** Renders the fleet as text. @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export interface FleetExposition {
  /**
   * Returns `preamble` and all of these clusters, made in slices; parts that were rendered before are kept. A part that cannot be rendered
   * because of a bug is absent.
   */
  render(
    preamble: string,
    clusters: readonly ClusterVerdict[],
    incidents?: IncidentsByCluster,
  ): Promise<LongText>;
}

/** The incidents of clusters, by name. */
type IncidentsByCluster = ReadonlyMap<string, ClusterIncidents>;

/** A longer text is kept as UTF-8 outside of the heap, where one wide character would double its size. */
const LONG_UNITS = 16 * 1024;

/** A family that has samples of a kind of part, and its place in the exposition. */
interface FamilySource {
  readonly name: string;
  readonly place: number;
  readonly samplesOf: (part: Part) => readonly Sample[];
}

/** The parts of a cluster and the texts of each, in the same order. Lists take half of the memory of a map. */
interface Rendered {
  readonly parts: ReturnType<typeof partsOf>;
  readonly texts: LongText[];
}

const NOTHING: LongText = [];

export interface ExpositionOptions {
  readonly families?: Families;
  /** Receives an error of the families; the default throws it. */
  readonly onBug?: (error: unknown) => void;
}

export function createFleetExposition(options: ExpositionOptions = {}): FleetExposition {
  const { families = FLEET_FAMILIES, onBug } = options;
  const headers = Object.entries(families).map(
    ([name, { type, help }]) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
  );
  const sources = sourcesByKind(families);
  /** The latest scrape, by cluster. */
  const rendered = new Map<string, Rendered>();
  function textsOf(part: Part): LongText {
    try {
      return render(sources.get(part.kind) ?? [], part);
    } catch (error) {
      if (onBug === undefined) throw error;
      onBug(error);
      return [];
    }
  }
  /** Returns the parts one by one, since a cluster may have many thousands. */
  function* partsIn(verdicts: readonly ClusterVerdict[], incidents: IncidentsByCluster) {
    for (const verdict of verdicts) {
      const { cluster } = verdict.facts;
      const before = rendered.get(cluster);
      const now: Rendered = { parts: partsOf(verdict, incidents.get(cluster)), texts: [] };
      rendered.set(cluster, now);
      const { parts, texts } = now;
      for (const [nth, part] of parts.entries()) {
        const known = before?.parts[nth] === part ? before?.texts[nth] : undefined;
        if (part === undefined) texts.push(NOTHING);
        else yield { part, known, texts };
      }
    }
  }
  return {
    render: async (preamble, verdicts, incidents = new Map()) => {
      const lists = headers.map((header): (string | Buffer)[] => [header]);
      await inSlices(partsIn(verdicts, incidents), ({ part, known = textsOf(part), texts }) => {
        texts.push(known);
        const own = sources.get(part.kind) ?? [];
        for (const [nth, text] of known.entries()) {
          if (text.length > 0) lists[own[nth]?.place ?? 0]?.push(text);
        }
      });
      const clusters = new Set(verdicts.map(({ facts }) => facts.cluster));
      for (const cluster of rendered.keys()) if (!clusters.has(cluster)) rendered.delete(cluster);
      const first: LongText = [preamble];
      // flat() would take 70 ms for a large fleet.
      return first.concat(...lists.filter((list) => list.length > 1));
    },
  };
}

function sourcesByKind(families: Families): ReadonlyMap<string, readonly FamilySource[]> {
  const all = Object.entries(families).flatMap(([name, { samples }], place) =>
    Object.entries(samples).map(([kind, samplesOf]) => ({
      kind,
      name,
      place,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries loses the kind; it is called with parts of this kind only
      samplesOf: samplesOf as FamilySource["samplesOf"],
    })),
  );
  return groupBy(all, ({ kind }) => kind);
}

function render(sources: readonly FamilySource[], part: Part): LongText {
  const common = labelsOf(part).map(labelText);
  const texts = sources.map(({ name, samplesOf }) => {
    // The pieces are joined at once into a flat text, since a chained text would keep all of its pieces.
    const text = samplesOf(part)
      .flatMap(({ labels, value }) => {
        return [name, "{", [...common, ...labels.map(labelText)].join(","), "} ", String(value), "\n"];
      })
      .join("");
    return text.length > LONG_UNITS ? Buffer.from(text) : text;
  });
  return texts.every((text) => text.length === 0) ? NOTHING : texts;
}

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information */
function labelText([name, value]: Labels[number]): string {
  // A replacement in each value would double the time of rendering, and most values need none.
  if (!/[\\"\n]/.test(value)) return `${name}="${value}"`;
  const escaped = value.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`);
  return `${name}="${escaped}"`;
}
