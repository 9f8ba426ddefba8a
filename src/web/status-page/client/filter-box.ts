import { EVERYTHING, formatFilter, isNarrowing, readFilter, type Filter } from "../view/filter.ts";
import { byId } from "./elements.ts";

export interface FilterBox {
  filter(): Filter;
}

/** Has the page follow the form as it is filled in, and keeps what it says in the URL. */
export function createFilterBox(onChange: () => void): FilterBox {
  const box = byId("filter");
  let filter = readFilter(new URLSearchParams(location.search));

  function form(): HTMLFormElement {
    const [element] = box.getElementsByTagName("form");
    if (element === undefined) throw new Error("the page has no form");
    return element;
  }

  function narrow(next: Filter): void {
    history.replaceState(null, "", formatFilter(next) + location.hash);
    apply(next);
  }

  function apply(next: Filter): void {
    filter = next;
    for (const link of box.querySelectorAll<HTMLElement>(".clear")) link.hidden = !isNarrowing(filter);
    onChange();
  }

  /** Once it is applied: what is asked for is then on offer, though it be gone from the fleet. */
  function fillIn(): void {
    for (const field of form().querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select"))
      field.value = new Map(Object.entries(filter)).get(field.name) ?? "";
  }

  function clear(): void {
    narrow(EVERYTHING);
    fillIn();
  }

  /** The reader went back or forward. */
  function followUrl(): void {
    const next = readFilter(new URLSearchParams(location.search));
    if (formatFilter(next) === formatFilter(filter)) return;
    apply(next);
    fillIn();
  }

  /** What the form says; it has no files. */
  function follow(): void {
    const fields = [...new FormData(form())].map(([name, value]) => [
      name,
      typeof value === "string" ? value : "",
    ]);
    narrow(readFilter(new URLSearchParams(fields)));
  }

  box.addEventListener("input", follow);
  addEventListener("popstate", followUrl);
  box.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href="?"]') : null;
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    clear();
  });
  return { filter: () => filter };
}
