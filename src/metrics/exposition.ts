import type { ClusterVerdict, GroupVerdict } from "../status/judge.ts";
import { FLEET_FAMILIES } from "./families.ts";
import { clusterLabels, type Family, type Labels, type Rendered, type Sample } from "./family.ts";
import { escapeLabelValue } from "./label-value.ts";

/** The fleet as text. @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export interface FleetExposition {
  /** Renders a cluster ahead of the scrape that will want it. */
  prepare(cluster: ClusterVerdict): void;
  /** All of these clusters in UTF-8; what was rendered before is only joined. */
  render(clusters: readonly ClusterVerdict[]): Buffer;
}

/** Lines, one text for each family, in the order of the families. */
type Lines = readonly Text[];

/** Long text is kept as UTF-8 outside of the heap, where one wide character would double it. */
type Text = string | Buffer;
const LONG_TEXT = 16 * 1024;

/** So many groups of a cluster are rendered together: where one has changed, the others of its block are rendered too. */
const BLOCK_GROUPS = 256;

interface Block {
  readonly groups: readonly GroupVerdict[];
  readonly lines: Lines;
}

export function createFleetExposition(families: readonly Family[] = FLEET_FAMILIES): FleetExposition {
  const headers = families.map(headerOf);
  const rendered = new WeakMap<Rendered, Lines>();
  /** Of each cluster, as it was rendered last. */
  const blocks = new Map<string, readonly Block[]>();

  function linesOf(part: Rendered): Lines {
    const known = rendered.get(part);
    if (known !== undefined) return known;
    const labelText = sharedLabelText();
    const lines = families.map((family) =>
      kept(samplesOf(family, part).map(({ labels, value }) => line(family, labelText(labels), value))),
    );
    rendered.set(part, lines);
    return lines;
  }

  function blocksOf({ facts: { cluster }, groups: all }: ClusterVerdict): readonly Block[] {
    const before = blocks.get(cluster) ?? [];
    const count = Math.ceil(all.length / BLOCK_GROUPS);
    const after = Array.from({ length: count }, (_, nth) => {
      const groups = all.slice(nth * BLOCK_GROUPS, (nth + 1) * BLOCK_GROUPS);
      const known = before[nth];
      return known !== undefined && isSameList(known.groups, groups)
        ? known
        : { groups, lines: linesOfGroups(groups) };
    });
    blocks.set(cluster, after);
    return after;
  }

  function linesOfGroups(groups: readonly GroupVerdict[]): Lines {
    const labels = groups.map((group) => renderLabels(groupLabels(group)));
    return families.map((family) =>
      kept(
        groups.flatMap((group, nth) =>
          (family.group?.(group) ?? []).map((own) =>
            line(family, [labels[nth] ?? "", ...own.labels.map(renderLabel)].join(","), own.value),
          ),
        ),
      ),
    );
  }

  function linesOfCluster(verdict: ClusterVerdict): Lines {
    return families.map((family) =>
      (family.cluster?.(verdict) ?? [])
        .map(({ labels, value }) => line(family, renderLabels(labels), value))
        .join(""),
    );
  }

  const partsOf = (verdict: ClusterVerdict): readonly Lines[] => [
    ...renderedParts(verdict).map(linesOf),
    ...blocksOf(verdict).map(({ lines }) => lines),
  ];

  return {
    prepare: (verdict) => void partsOf(verdict),
    render: (verdicts) => {
      const parts = verdicts.flatMap((verdict) => [...partsOf(verdict), linesOfCluster(verdict)]);
      const clusters = new Set(verdicts.map(({ facts }) => facts.cluster));
      for (const cluster of blocks.keys()) if (!clusters.has(cluster)) blocks.delete(cluster);
      return joined(headers.flatMap((header, index) => familyText(header, parts, index)));
    },
  };
}

/** In the order of the configuration. */
function renderedParts({ facts, appliances, websites }: ClusterVerdict): readonly Rendered[] {
  return [
    ...appliances,
    ...websites,
    ...facts.appliances.flatMap(({ vrrp, websites: tests, totals }) => [vrrp, ...tests, totals]),
  ];
}

/** The labels of a group's series. */
function groupLabels(group: GroupVerdict): Labels {
  const { vhid, vip } = group.facts;
  return [...clusterLabels(group), ["vhid", String(vhid)], ["vip", vip]];
}

/** Groups that are the same objects have the same labels. */
function isSameList(some: readonly GroupVerdict[], others: readonly GroupVerdict[]): boolean {
  return some.length === others.length && some.every((group, index) => group === others[index]);
}

function familyText(header: string, parts: readonly Lines[], index: number): readonly Text[] {
  const lines = parts.flatMap((part) => part[index] ?? "").filter((text) => text.length > 0);
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

function samplesOf({ samples }: Family, part: Rendered): readonly Sample[] {
  switch (part.kind) {
    case "vrrp":
      return samples.vrrp?.(part) ?? [];
    case "website_test":
      return samples.website_test?.(part) ?? [];
    case "totals":
      return samples.totals?.(part) ?? [];
    case "appliance":
      return samples.appliance?.(part) ?? [];
    case "website":
      return samples.website?.(part) ?? [];
    default:
      return part satisfies never;
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
  return labels.map(renderLabel).join(",");
}

function renderLabel([name, value]: Labels[number]): string {
  return `${name}="${escapeLabelValue(value)}"`;
}
