import { Idiomorph } from "idiomorph";
import { absoluteTime } from "../../view/time.ts";

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;
/** The page is current while it waits no longer than this for an answer to its requests. */
const CURRENT_FOR_MS = 3000;
/** A younger page does not reload for another version, since one address may lead to exporters of two versions. */
const RELOAD_AFTER_MS = 30_000;
/** Servers limit the length of a URL. Beyond it the reader's oldest choices are dropped. */
const MAX_QUERY_LENGTH = 4000;

const [state, line, lost] = [byId("state"), byId("connection"), byId("lost")];
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

/** Resolves to the fragment, to the HTTP status of a response that is not the status page, or, without a response, to `undefined`. */
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

/** Returns the page's own URL. Browsers refuse requests to a URL with credentials. */
function fragmentUrl(): URL {
  const url = new URL(location.href);
  [url.username, url.password, url.hash] = ["", "", ""];
  url.searchParams.set("fragment", byId("filter").dataset["key"] ?? "");
  for (const [id, isOpen] of choices) url.searchParams.append(isOpen ? "open" : "closed", id);
  return url;
}

/**
 * Returns false if the node needs no change. The text in a field is the reader's. A form without fields means the form that the page has.
 */
const beforeNodeMorphed = (node: Node, next: Node): boolean =>
  !(
    node instanceof HTMLInputElement ||
    node.isEqualNode(next) ||
    (next instanceof HTMLFormElement && next.childElementCount === 0)
  );

/** Merges an answer into the page. The reader's focus, selection, typed text and scroll positions stay. */
function show(next: HTMLElement): void {
  unansweredSinceMs = undefined;
  const focused = document.activeElement;
  void Idiomorph.morph(state, next, { callbacks: { beforeNodeMorphed } });
  // Browsers without moveBefore() remove the focus from an element that moves.
  if (focused instanceof HTMLElement && focused !== document.activeElement)
    focused.focus({ preventScroll: true });
  if (state.dataset["version"] === version || performance.now() < reloadFromMs) return;
  reloadFromMs = performance.now() + RELOAD_AFTER_MS;
  location.reload();
}

function showConnection(): void {
  const at = absoluteTime(new Date(Number(state.dataset["at"])).toISOString());
  const now = performance.now();
  const isLost = now - (unansweredSinceMs ?? now) > CURRENT_FOR_MS;
  const other =
    otherStatus === undefined ? "" : ` The last response was not the status page (HTTP ${otherStatus}).`;
  const message = isLost ? `No answer from the exporter since ${at}.${other} Below is its last answer.` : "";
  // Screen readers announce each change of this text.
  if (lost.textContent !== message) lost.textContent = message;
  line.textContent = isLost ? "No answer" : `Live, ${at.slice(11)}`;
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

function fields(): readonly (HTMLInputElement | HTMLSelectElement)[] {
  return [...byId("filter").querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")];
}

document.addEventListener("input", () => {
  const filled = fields().filter(({ value }) => value !== "");
  const query = new URLSearchParams(filled.map(({ name, value }) => [name, value]));
  history.replaceState(null, "", `?${query.toString()}${location.hash}`);
  void update();
});
document.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("click", (event) => {
  const clicked = event.target instanceof Element ? event.target.closest("summary, a") : null;
  const [details, href] = [clicked?.parentElement, clicked?.getAttribute("href")];
  if (details instanceof HTMLDetailsElement) void choose(details.id, !details.open);
  // The URL may have that hash already, and then does not change.
  else if (href?.startsWith("#") === true) void openTarget(href);
});
// The page does not close an element in which the reader works.
document.addEventListener("focusin", ({ target }) => {
  const details = target instanceof Element ? target.closest(".body")?.parentElement : undefined;
  if (details instanceof HTMLDetailsElement) choices.set(details.id, true);
});
addEventListener("hashchange", () => void openTarget(location.hash));
addEventListener("popstate", () => {
  const query = new URLSearchParams(location.search);
  for (const field of fields()) field.value = query.get(field.name) ?? "";
  void update();
});
for (const event of ["online", "pageshow", "visibilitychange"]) addEventListener(event, () => void update());
setInterval(showConnection, INTERVAL_MS);
document.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
void openTarget(location.hash);
void update();
