import type { ClusterSnapshot, FleetSnapshot, GroupSnapshot, Section } from "../fleet/snapshot.ts";
import { FLEET_FAMILIES } from "./families.ts";
import { groupLabels } from "./families/groups.ts";
import type { Family, Labels, Sample } from "./family.ts";
import { escapeLabelValue } from "./label-value.ts";

/** The fleet as text. @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export interface FleetExposition {
  /** Renders a section ahead of the scrape that will want it. */
  prepare(section: Section): void;
  /** The whole snapshot in UTF-8; sections that were rendered before are only joined. */
  render(snapshot: FleetSnapshot): Buffer;
}

/** A section's lines, one text for each family, in the order of the families. */
type Rendered = readonly Text[];

/** Long text is kept as UTF-8 outside of the heap, where one wide character would double it. */
type Text = string | Buffer;
const LONG_TEXT = 16 * 1024;

/** So many groups of a cluster are rendered together: where one has changed, the others of its block are rendered too. */
const BLOCK_GROUPS = 256;

interface Block {
  readonly groups: readonly GroupSnapshot[];
  readonly lines: Rendered;
}

export function createFleetExposition(families: readonly Family[] = FLEET_FAMILIES): FleetExposition {
  const headers = families.map(headerOf);
  const rendered = new WeakMap<Section, readonly Rendered[]>();
  /** Of each cluster, as it was rendered last. */
  const blocks = new Map<string, readonly Block[]>();

  function linesOf(section: Section): readonly Rendered[] {
    const known = rendered.get(section);
    if (known !== undefined) return known;
    const lines =
      section.kind === "cluster" ? blocksOf(section).map((block) => block.lines) : [linesOfSamples(section)];
    rendered.set(section, lines);
    return lines;
  }

  function linesOfSamples(section: Exclude<Section, ClusterSnapshot>): Rendered {
    const labelText = sharedLabelText();
    return families.map((family) =>
      kept(samplesOf(family, section).map(({ labels, value }) => line(family, labelText(labels), value))),
    );
  }

  function blocksOf(section: ClusterSnapshot): readonly Block[] {
    const before = blocks.get(section.cluster) ?? [];
    const count = Math.ceil(section.groups.length / BLOCK_GROUPS);
    const after = Array.from({ length: count }, (_, nth) => {
      const groups = section.groups.slice(nth * BLOCK_GROUPS, (nth + 1) * BLOCK_GROUPS);
      const known = before[nth];
      return known !== undefined && isSameList(known.groups, groups)
        ? known
        : { groups, lines: linesOfGroups(section, groups) };
    });
    blocks.set(section.cluster, after);
    return after;
  }

  function linesOfGroups(section: ClusterSnapshot, groups: readonly GroupSnapshot[]): Rendered {
    const labels = groups.map((group) => renderLabels(groupLabels(section, group)));
    return families.map((family) => {
      const lines = groups.map((group, nth) => {
        const value = family.group?.(group);
        return value === undefined ? "" : line(family, labels[nth] ?? "", value);
      });
      return kept(lines);
    });
  }

  return {
    prepare: linesOf,
    render: (snapshot) => {
      const sections = sectionsOf(snapshot).flatMap(linesOf);
      const clusters = new Set(snapshot.clusters.map(({ cluster }) => cluster));
      for (const cluster of blocks.keys()) if (!clusters.has(cluster)) blocks.delete(cluster);
      return joined(headers.flatMap((header, index) => familyText(header, sections, index)));
    },
  };
}

/** Groups that are the same objects have the same labels. */
function isSameList(some: readonly GroupSnapshot[], others: readonly GroupSnapshot[]): boolean {
  return some.length === others.length && some.every((group, index) => group === others[index]);
}

function familyText(header: string, sections: readonly Rendered[], index: number): readonly Text[] {
  const lines = sections.flatMap((section) => section[index] ?? "").filter((text) => text.length > 0);
  return lines.length === 0 ? [] : [header, ...lines];
}

/** Strings are gathered first, since each conversion to bytes has a cost of its own. */
function joined(texts: readonly Text[]): Buffer {
  const chunks: Buffer[] = [];
  let gathered = "";
  for (const text of texts) {
    if (typeof text === "string") gathered += text;
    if (typeof text !== "string" || gathered.length > LONG_TEXT) {
      chunks.push(Buffer.from(gathered));
      gathered = "";
    }
    if (typeof text !== "string") chunks.push(text);
  }
  return Buffer.concat([...chunks, Buffer.from(gathered)]);
}

function sectionsOf({ appliances, clusters }: FleetSnapshot): readonly Section[] {
  return [...appliances.flatMap(({ vrrp, websites, totals }) => [vrrp, ...websites, totals]), ...clusters];
}

function samplesOf({ samples }: Family, section: Exclude<Section, ClusterSnapshot>): readonly Sample[] {
  switch (section.kind) {
    case "vrrp":
      return samples.vrrp?.(section) ?? [];
    case "website_test":
      return samples.website_test?.(section) ?? [];
    case "totals":
      return samples.totals?.(section) ?? [];
    default:
      return section satisfies never;
  }
}

function headerOf({ name, type, help }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function line({ name }: Family, labels: string, value: number): string {
  return `${name}{${labels}} ${value}\n`;
}

/** One flat text: pieces that are only chained together would be walked through again at every scrape. */
function kept(lines: readonly string[]): Text {
  const text = lines.join("");
  return text.length > LONG_TEXT ? Buffer.from(text) : text;
}

/** Families that share the labels of a sample share their text. */
function sharedLabelText(): (labels: Labels) => string {
  const texts = new Map<Labels, string>();
  return (labels) => {
    const known = texts.get(labels) ?? renderLabels(labels);
    texts.set(labels, known);
    return known;
  };
}

function renderLabels(labels: Labels): string {
  return labels.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join(",");
}
