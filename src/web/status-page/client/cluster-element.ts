import { clusterItem, clusterSummary } from "../view/cluster.ts";
import { clusterTable } from "../view/cluster-table.ts";
import { CLUSTER_GROUPS, type ClusterGroup, type JudgedCluster } from "../view/standing.ts";
import { within } from "./elements.ts";
import { parse, patch } from "./patch.ts";

/** A cluster on the page. */
export interface ClusterElement {
  readonly element: HTMLElement;
  /** Takes in what is known now, and opens or closes where it has come to another part of the page; `show` draws it. */
  take(judged: JudgedCluster, place: Place): void;
  /** Draws what can be read: of a closed one the line, and the rest when it opens. */
  show(): void;
}

export interface Place {
  readonly group: ClusterGroup;
  /** Whether it shows everything at first. */
  readonly opens: boolean;
  /** Whether a filter has just changed what is shown beside it. */
  readonly isRearranged: boolean;
}

/** `onDrawn`: there is new markup, whose relative times have no words yet. */
export function createClusterElement(element: HTMLElement, onDrawn: (part: Element) => void): ClusterElement {
  const details = within(element, "details");
  const [line, body] = [within(details, "summary"), within(details, ".body")];
  let judged: JudgedCluster | undefined;
  let group = groupOf(element);
  // From then on it is not ours to open and close.
  let isTouched = false;

  function showBody(): void {
    if (judged !== undefined && patch(body, clusterTable(judged.cluster, undefined))) onDrawn(body);
  }

  line.addEventListener("click", () => {
    isTouched = true;
    showBody();
  });
  // However it was opened: by its line, by a search in the page, by a link.
  details.addEventListener("toggle", () => {
    if (isOpen(details)) showBody();
  });

  return {
    element,
    take: (given, place) => {
      const isMoved = group !== place.group || place.isRearranged;
      if (isMoved && !isTouched) details.toggleAttribute("open", place.opens);
      judged = given;
      group = place.group;
      if (element.dataset["standing"] !== given.standing) element.dataset["standing"] = given.standing;
    },
    show: () => {
      if (judged !== undefined) patch(line, clusterSummary(judged));
      if (isOpen(details)) showBody();
    },
  };
}

/** The element of a cluster that the page does not have yet; closed. */
export function newElement(judged: JudgedCluster): HTMLElement {
  return within(parse(clusterItem(judged, { isOpen: false, isWhole: false }, undefined).text), "li");
}

function isOpen(details: Element): boolean {
  return details.hasAttribute("open");
}

/** Where the server put it; nowhere yet if it did not. */
function groupOf(element: Element): ClusterGroup | undefined {
  const section = element.closest("section");
  return CLUSTER_GROUPS.find((group) => group === section?.id);
}
