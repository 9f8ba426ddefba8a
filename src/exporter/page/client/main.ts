import { Idiomorph } from "idiomorph";
import { readStrips } from "./strips.ts";
import { localize, secondOf, zone } from "./times.ts";

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;
/** The page is current while it waits no longer than this for an answer to its requests. */
const CURRENT_FOR_MS = 3000;
/** A younger page does not reload for another version, since one address may lead to exporters of two versions. */
const RELOAD_AFTER_MS = 30_000;
/** Servers limit the length of a URL. Beyond it the reader's oldest choices are dropped. */
const MAX_QUERY_LENGTH = 4000;

const [state, lost] = [byId("state"), byId("lost")];
const { version } = state.dataset;
/** The elements that the reader opened (true) or closed, by id. */
const choices = new Map<string, boolean>();
/** The instant at which the first request after the latest answer was sent. */
let unansweredSinceMs: number | undefined;
/** The HTTP status of a response that came after the latest answer and is not the status page. */
let otherStatus: number | undefined;
let latest = new AbortController();
let timer: number | undefined;
let reloadFromMs = RELOAD_AFTER_MS;

function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

/** Requests the fragment at once, in place of a request in flight, and again every second. */
async function update(): Promise<void> {
  clearTimeout(timer);
  latest.abort();
  const own = (latest = new AbortController());
  const startedMs = performance.now();
  unansweredSinceMs ??= startedMs;
  const answer = await request(own.signal);
  if (own !== latest) return;
  const restMs = startedMs + INTERVAL_MS - performance.now();
  timer = setTimeout(() => void update(), Math.max(restMs, INTERVAL_MS / 4));
  otherStatus = answer instanceof HTMLElement ? undefined : answer;
  if (answer instanceof HTMLElement) show(answer);
  showConnection();
}

function fragmentIn(text: string): HTMLElement | null {
  return new DOMParser().parseFromString(text, "text/html").querySelector("#state[data-version]");
}

/** Resolves to the fragment, to the HTTP status of a response that is not the status page, or, without a response, to `undefined`. */
async function request(signal: AbortSignal): Promise<HTMLElement | number | undefined> {
  try {
    const signals = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(fragmentUrl(), { cache: "no-store", redirect: "error", signal: signals });
    const next = fragmentIn(await response.text());
    return response.ok && next !== null ? next : response.status;
  } catch {
    return undefined;
  }
}

/** Returns the page's own URL. Browsers refuse requests to a URL with credentials. */
function fragmentUrl(): URL {
  const url = new URL(location.href);
  [url.username, url.password, url.hash] = ["", "", ""];
  url.searchParams.set("fragment", "");
  for (const [id, isOpen] of choices) url.searchParams.append(isOpen ? "open" : "closed", id);
  return url;
}

/** Returns false if the node needs no change. The text in the field is the reader's. */
const beforeNodeMorphed = (node: Node, next: Node): boolean =>
  !((node instanceof HTMLInputElement && node.type === "search") || node.isEqualNode(next));

/** Merges an answer into the page. The reader's focus, selection, typed text and scroll positions stay. */
function show(next: HTMLElement): void {
  unansweredSinceMs = undefined;
  const nowMs = Number(next.dataset["at"]);
  localize(next, nowMs);
  const line = next.querySelector("#connection");
  if (line !== null) line.textContent = `live ${secondOf(nowMs)} · ${zone}`;
  const focused = document.activeElement;
  void Idiomorph.morph(state, next, { callbacks: { beforeNodeMorphed } });
  // Browsers without moveBefore() remove the focus from an element that moves.
  if (focused instanceof HTMLElement && focused !== document.activeElement)
    focused.focus({ preventScroll: true });
  document.querySelector("link[rel=icon]")?.setAttribute("href", state.dataset["icon"] ?? "");
  document.querySelector("meta[name=theme-color]")?.setAttribute("content", state.dataset["theme"] ?? "");
  if (state.dataset["version"] === version || performance.now() < reloadFromMs) return;
  reloadFromMs = performance.now() + RELOAD_AFTER_MS;
  location.reload();
}

function showConnection(): void {
  const now = performance.now();
  const isLost = now - (unansweredSinceMs ?? now) > CURRENT_FOR_MS;
  const other =
    otherStatus === undefined ? "" : ` The last response was not the status page (HTTP ${otherStatus}).`;
  const at = `${secondOf(Number(state.dataset["at"]))} (${zone})`;
  const message = isLost ? `No answer from the exporter since ${at}.${other} Below is its last answer.` : "";
  // Screen readers announce each change of this text.
  if (lost.textContent !== message) lost.textContent = message;
  if (isLost) byId("connection").textContent = "no answer";
  document.title = isLost ? "No answer – appliance-exporter" : (state.dataset["title"] ?? "");
  document.documentElement.dataset["connection"] = isLost ? "lost" : "live";
}

function choose(id: string, isOpen: boolean): Promise<void> {
  choices.delete(id);
  choices.set(id, isOpen);
  for (const oldest of choices.keys())
    if (fragmentUrl().search.length > MAX_QUERY_LENGTH) choices.delete(oldest);
  return update();
}

/** Opens the cluster that a link leads to. A cluster beyond the page's limit of lines is there after the update. */
async function openTarget(hash: string): Promise<void> {
  const id = hash.slice(1);
  if (!id.startsWith("cluster-")) return;
  const known = document.getElementById(id);
  known?.setAttribute("open", "");
  await choose(id, true);
  if (known === null) document.getElementById(id)?.scrollIntoView();
}

/** Shows another address of this page, with its marked row or incident in view. */
async function visit(href: string): Promise<void> {
  const url = new URL(href, location.href);
  if (url.href === location.href) choices.clear();
  else history.pushState(null, "", `${url.pathname}${url.search}${url.hash}`);
  const id = url.hash.slice(1);
  choices.delete(id);
  showField();
  await update();
  const marked = document.querySelector("main [aria-current]:not(nav *)");
  if (id !== "") (marked ?? document.getElementById(id))?.scrollIntoView({ block: "center" });
  document.getElementById(id)?.querySelector("summary")?.focus({ preventScroll: true });
}

function search(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>("#search");
}

/** Shows the text of the address in the field. */
function showField(): void {
  const field = search();
  if (field !== null) field.value = new URLSearchParams(location.search).get("text") ?? "";
}

readStrips(state, (incident) => {
  const url = new URL(location.href);
  url.searchParams.set("incident", incident);
  void visit(`${url.search}#incident-${incident}`);
});
document.addEventListener("input", () => {
  const url = new URL(location.href);
  const { value = "" } = search() ?? {};
  if (value === "") url.searchParams.delete("text");
  else url.searchParams.set("text", value);
  history.replaceState(null, "", `${url.pathname}${url.search}${url.hash}`);
  void update();
});
document.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("click", (event) => {
  if (event.defaultPrevented) return;
  const clicked = event.target instanceof Element ? event.target.closest("summary, a") : null;
  const [details, href] = [clicked?.parentElement, clicked?.getAttribute("href") ?? ""];
  if (details instanceof HTMLDetailsElement) void choose(details.id, !details.open);
  // The URL may have that hash already, and then does not change.
  else if (href.startsWith("#")) void openTarget(href);
  else if (
    href.startsWith("?") &&
    !href.includes("view=") &&
    !event.ctrlKey &&
    !event.metaKey &&
    !event.shiftKey
  ) {
    event.preventDefault();
    void visit(href);
  }
});
document.addEventListener("keydown", (event) => {
  const field = search();
  if (event.key !== "/" || field === null || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  field.focus();
});
// The page does not close an element in which the reader works.
document.addEventListener("focusin", ({ target }) => {
  const details = target instanceof Element ? target.closest(".body")?.parentElement : undefined;
  if (details instanceof HTMLDetailsElement) choices.set(details.id, true);
});
addEventListener("hashchange", () => void openTarget(location.hash));
addEventListener("popstate", () => {
  showField();
  void update();
});
for (const event of ["online", "pageshow", "visibilitychange"]) addEventListener(event, () => void update());
// On paper the tables of what is not well are open. A print waits for no other answer than one that blocks.
addEventListener("beforeprint", () => {
  const before = [...choices];
  for (const { id } of document.querySelectorAll(".cluster:not([data-level=well]) > details"))
    choices.set(id, true);
  const blocking = new XMLHttpRequest();
  blocking.open("GET", fragmentUrl(), false);
  choices.clear();
  for (const [id, isOpen] of before) choices.set(id, isOpen);
  blocking.send();
  const next = fragmentIn(blocking.responseText);
  if (next !== null) show(next);
});
addEventListener("afterprint", () => void update());
setInterval(showConnection, INTERVAL_MS);
document.querySelector("main [aria-current]:not(nav *)")?.scrollIntoView({ block: "nearest" });
void openTarget(location.hash);
void update();
