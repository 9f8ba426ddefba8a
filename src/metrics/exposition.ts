import type { FleetSnapshot, Section } from "../fleet/snapshot.ts";
import { FLEET_FAMILIES } from "./families.ts";
import type { Family, Sample } from "./family.ts";
import { escapeLabelValue } from "./label-value.ts";

/** The fleet as text. @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export interface FleetExposition {
  /** Renders a section ahead of the scrape that will want it. */
  prepare(section: Section): void;
  /** The whole snapshot; sections that were rendered before are only joined. */
  render(snapshot: FleetSnapshot): string;
}

/** A section's lines, one text for each family, in the order of the families. */
type Rendered = readonly string[];

export function createFleetExposition(families: readonly Family[] = FLEET_FAMILIES): FleetExposition {
  const headers = families.map(headerOf);
  const rendered = new WeakMap<Section, Rendered>();

  function linesOf(section: Section): Rendered {
    const known = rendered.get(section);
    if (known !== undefined) return known;
    const lines = families.map((family) => renderSamples(family.name, samplesOf(family, section)));
    rendered.set(section, lines);
    return lines;
  }

  return {
    prepare: linesOf,
    render: (snapshot) => {
      const sections = sectionsOf(snapshot).map(linesOf);
      return headers.map((header, index) => joinFamily(header, sections, index)).join("");
    },
  };
}

function joinFamily(header: string, sections: readonly Rendered[], index: number): string {
  let lines = "";
  for (const section of sections) lines += section[index] ?? "";
  return lines === "" ? "" : header + lines;
}

function sectionsOf({ appliances, clusters }: FleetSnapshot): readonly Section[] {
  return [...appliances.flatMap(({ vrrp, websites, totals }) => [vrrp, ...websites, totals]), ...clusters];
}

function samplesOf({ samples }: Family, section: Section): readonly Sample[] {
  switch (section.kind) {
    case "vrrp":
      return samples.vrrp?.(section) ?? [];
    case "website_test":
      return samples.website_test?.(section) ?? [];
    case "totals":
      return samples.totals?.(section) ?? [];
    case "cluster":
      return samples.cluster?.(section) ?? [];
    default:
      return section satisfies never;
  }
}

function headerOf({ name, type, help }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** One flat string: pieces that are only chained together would be walked through again at every scrape. */
function renderSamples(name: string, samples: readonly Sample[]): string {
  return samples.map(({ labels, value }) => `${name}{${renderLabels(labels)}} ${value}\n`).join("");
}

function renderLabels(labels: Sample["labels"]): string {
  return labels.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join(",");
}
