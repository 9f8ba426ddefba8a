import { describeChanges, type Content } from "./changes.ts";
import { createConnection } from "./connection.ts";
import { merge } from "./merge.ts";

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;
/** A younger page does not reload for another version: one address may lead to exporters of two versions. */
const RELOAD_AFTER_MS = 30_000;
/** Servers limit the length of a URL. Beyond it the reader's oldest choices are dropped. */
const MAX_QUERY_LENGTH = 4000;

const [state, announcer] = [byId("state"), byId("announcer")];
const announce = (sentence: string): void => void (announcer.textContent = sentence);
const connection = createConnection({ line: byId("connection"), banner: byId("lost"), state, announce });
const { version } = state.dataset;
/** What the reader opened (true) and closed, by id. */
const choices = new Map<string, boolean>();
let latest = new AbortController();
let timer: number | undefined;
let reloadFromMs = RELOAD_AFTER_MS;

function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

/** Requests the fragment at once, in place of a request in flight, and again every second. */
async function update(isReaders = false): Promise<void> {
  clearTimeout(timer);
  latest.abort();
  const own = (latest = new AbortController());
  const startedMs = performance.now();
  connection.requested(isReaders);
  const answer = await request(own.signal);
  if (own !== latest) return;
  const restMs = startedMs + INTERVAL_MS - performance.now();
  timer = setTimeout(() => void update(), Math.max(restMs, INTERVAL_MS / 4));
  if (answer instanceof HTMLElement) show(answer, isReaders);
  else connection.failed(answer);
}

/** The fragment; or the HTTP status of a response that is not the status page; `undefined` without a response. */
async function request(signal: AbortSignal): Promise<HTMLElement | number | undefined> {
  try {
    const signals = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(fragmentUrl(), { cache: "no-store", redirect: "error", signal: signals });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.querySelector<HTMLElement>("#state[data-version]");
    return response.ok && next !== null ? next : response.status;
  } catch {
    return undefined;
  }
}

/** The page's own URL. Browsers refuse requests to a URL with credentials. */
function fragmentUrl(): URL {
  const url = new URL(location.href);
  [url.username, url.password, url.hash] = ["", "", ""];
  url.searchParams.set("fragment", "");
  for (const [id, isOpen] of choices) url.searchParams.append(isOpen ? "open" : "closed", id);
  return url;
}

function show(next: HTMLElement, isReaders: boolean): void {
  const before = content();
  merge(state, next);
  const changes = describeChanges(before, content());
  // Readers expect what they have just requested.
  if (changes !== "" && !isReaders) announce(changes);
  connection.answered();
  if (state.dataset["version"] === version || performance.now() < reloadFromMs) return;
  reloadFromMs = performance.now() + RELOAD_AFTER_MS;
  location.reload();
}

/** Outages and recoveries are announced as problems. */
const ANNOUNCED = ".problems > li, .events > [data-kind=failover], .events > [data-kind=change]";

function content(): Content {
  const items = Array.from(state.querySelectorAll(ANNOUNCED), (item) => {
    return [item.id, item.querySelector(".what > span")?.textContent ?? ""] as const;
  });
  return {
    headline: state.querySelector("h1")?.textContent ?? "",
    problems: new Set(state.dataset["problems"]?.split(" ")),
    texts: new Map(items),
  };
}

function choose(id: string, isOpen: boolean): Promise<void> {
  choices.delete(id);
  choices.set(id, isOpen);
  for (const oldest of choices.keys())
    if (fragmentUrl().search.length > MAX_QUERY_LENGTH) choices.delete(oldest);
  return update(true);
}

/** Opens the cluster that a link leads to. One beyond the page's limit of lines is there after the update. */
async function openTarget(hash: string): Promise<void> {
  const id = hash.slice(1);
  if (!id.startsWith("cluster-")) return;
  const known = document.getElementById(id);
  known?.setAttribute("open", "");
  await choose(id, true);
  if (known === null) document.getElementById(id)?.scrollIntoView();
}

function filterBy(query: URLSearchParams): void {
  history.replaceState(null, "", `?${query.toString()}${location.hash}`);
  void update(true);
}

function fields(): readonly (HTMLInputElement | HTMLSelectElement)[] {
  return [...byId("filter").querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")];
}

/** Makes the form show the filter of the URL. */
function fillIn(): void {
  const query = new URLSearchParams(location.search);
  for (const field of fields()) field.value = query.get(field.name) ?? "";
}

document.addEventListener("input", () => {
  const filled = fields().filter(({ value }) => value !== "");
  filterBy(new URLSearchParams(filled.map(({ name, value }) => [name, value])));
});
document.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("click", (event) => {
  const clicked = event.target instanceof Element ? event.target.closest("summary, a") : null;
  const [details, href] = [clicked?.parentElement, clicked?.getAttribute("href")];
  if (details instanceof HTMLDetailsElement) void choose(details.id, !details.open);
  // The URL may have that hash already, and then does not change.
  else if (href?.startsWith("#") === true) void openTarget(href);
  else if (href === "?" && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    filterBy(new URLSearchParams());
    fillIn();
  }
});
// The page does not close what the reader works in.
document.addEventListener("focusin", ({ target }) => {
  const details = target instanceof Element ? target.closest(".body")?.parentElement : undefined;
  if (details instanceof HTMLDetailsElement) choices.set(details.id, true);
});
addEventListener("hashchange", () => void openTarget(location.hash));
addEventListener("popstate", () => {
  fillIn();
  void update(true);
});
for (const event of ["online", "pageshow", "visibilitychange"]) addEventListener(event, () => void update());
setInterval(connection.show, INTERVAL_MS);
void openTarget(location.hash);
void update();
