import { relativeTime, type Wording } from "../view/time.ts";

/** Puts all relative times within an element right. `nowMs`: Unix time. */
export function tick(root: Element, nowMs: number): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[data-wording]")) {
    const words = relativeTime(wordingOf(element), Date.parse(element.dateTime), nowMs);
    if (element.textContent !== words) element.textContent = words;
  }
}

function wordingOf({ dataset }: HTMLElement): Wording {
  const wording = dataset["wording"];
  return wording === "for" || wording === "next" ? wording : "ago";
}
