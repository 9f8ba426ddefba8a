import { groupTitle, opensAtFirst } from "../view/clusters.ts";
import { CLUSTER_GROUPS, type ClusterGroup, type ClusterGroups } from "../view/standing.ts";
import { arrange, keepingFocus } from "./arrange.ts";
import { createClusterElement, newElement, type ClusterElement } from "./cluster-element.ts";
import { byId, within } from "./elements.ts";
import { createInSight } from "./in-sight.ts";
import { patch } from "./patch.ts";
import { createSlices } from "./slices.ts";
import { tick } from "./ticker.ts";

/** The clusters of the page, each of which is touched only where something in it changed. */
export interface ClusterList {
  /** Puts all in their place at once, then draws them: first those in sight. Resolves when all are drawn, rejects where one cannot be. */
  show(groups: ClusterGroups): Promise<void>;
  /** Relative times of what is in sight. */
  tick(): void;
}

/** `nowMs`: the server's Unix time. */
export function createClusterList(nowMs: () => number): ClusterList {
  const known = new Map<string, ClusterElement>();
  const inSight = createInSight((element) => tick(element, nowMs()));
  const slices = createSlices();

  function adopt(name: string, element: HTMLElement): ClusterElement {
    const adopted = createClusterElement(element, (part) => tick(part, nowMs()));
    inSight.watch(element);
    known.set(name, adopted);
    return adopted;
  }

  function take(
    groups: ClusterGroups,
    group: ClusterGroup,
    isRearranged: boolean,
  ): readonly ClusterElement[] {
    return groups[group].map((judged, index) => {
      const { name } = judged.cluster;
      const element = known.get(name) ?? adopt(name, newElement(judged));
      element.take(judged, { group, opens: opensAtFirst(groups, group, index), isRearranged });
      return element;
    });
  }

  function forgetOthers(shown: ReadonlySet<ClusterElement>): void {
    for (const [name, item] of known) {
      if (shown.has(item)) continue;
      inSight.forget(item.element);
      known.delete(name);
    }
  }

  /** What can be seen is drawn first. */
  function draw(all: readonly ClusterElement[]): Promise<void> {
    const [near, far] = [true, false].map((seen) =>
      all.filter(({ element }) => inSight.has(element) === seen),
    );
    return slices.start([...(near ?? []), ...(far ?? [])].map(({ show }) => show));
  }

  for (const element of byId("fleet").querySelectorAll<HTMLElement>(".cluster")) {
    adopt(element.dataset["key"] ?? "", element);
  }
  let shownCount = known.size;
  return {
    show: (groups) => {
      const count = CLUSTER_GROUPS.reduce((sum, group) => sum + groups[group].length, 0);
      const taken = CLUSTER_GROUPS.map(
        (group) => [group, take(groups, group, count !== shownCount)] as const,
      );
      shownCount = count;
      const all = taken.flatMap(([, elements]) => elements);
      forgetOthers(new Set(all));
      keepingFocus(() => {
        for (const [group, elements] of taken) fill(group, elements, groups);
      });
      return draw(all);
    },
    tick: () => {
      for (const element of inSight.all()) tick(element, nowMs());
    },
  };
}

function fill(group: ClusterGroup, elements: readonly ClusterElement[], groups: ClusterGroups): void {
  const section = byId(group);
  arrange(
    within(section, "ul"),
    elements.map(({ element }) => element),
  );
  patch(within(section, "h2"), groupTitle(group, groups[group]));
  section.toggleAttribute("hidden", elements.length === 0);
}
