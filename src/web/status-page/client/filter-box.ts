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
    filter = next;
    history.replaceState(null, "", formatFilter(filter) + location.hash);
    for (const link of box.querySelectorAll<HTMLElement>(".clear")) link.hidden = !isNarrowing(filter);
    onChange();
  }

  function clear(): void {
    for (const field of form().querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select"))
      field.value = "";
    narrow(EVERYTHING);
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
  box.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href="?"]') : null;
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    clear();
  });
  return { filter: () => filter };
}
