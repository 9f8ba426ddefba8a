import type { FleetDocument } from "../../../status/schema.ts";
import { describeChanges } from "../view/changes.ts";
import { eventHistory } from "../view/events.ts";
import { filterForm } from "../view/filter-form.ts";
import { applyFilter, keptOut } from "../view/filter.ts";
import { narrowedNote } from "../view/narrowed.ts";
import { problemList } from "../view/problems.ts";
import { groupClusters } from "../view/standing.ts";
import { titleOf, verdictBanner, verdictOf } from "../view/verdict.ts";
import { createClusterList } from "./cluster-list.ts";
import { createConnection } from "./connection.ts";
import { byId } from "./elements.ts";
import { startFeed, type Answer } from "./feed.ts";
import { createFilterBox } from "./filter-box.ts";
import { openTargets } from "./open-targets.ts";
import { patch } from "./patch.ts";
import { tick } from "./ticker.ts";

/** How often relative times and the age of the latest answer are put right. */
const TICK_MS = 1000;
/**
 * A page this young was just made by another version: to load it once more would help nobody, nor to begin anew a load that
 * is under way.
 */
const RELOAD_AFTER_MS = 30_000;

const announcer = byId("announcer");
const parts = { verdict: byId("verdict"), problems: byId("problems"), history: byId("history") };
const connection = createConnection(announce);
connection.entitle(document.title);
const clusters = createClusterList(connection.nowMs);
const filterBox = createFilterBox(() => fleet && void render(fleet));
let fleet: FleetDocument | undefined;
/** Of the exporter, as it says itself. */
let version: string | undefined;
/** When the page may load itself anew, by its own clock. */
let reloadFromMs = RELOAD_AFTER_MS;

function announce(sentence: string): void {
  announcer.textContent = sentence;
}

/** Resolves when all is shown; rejects where something cannot be. */
async function render(whole: FleetDocument): Promise<void> {
  const filter = filterBox.filter();
  const shown = applyFilter(whole, filter);
  const verdict = verdictOf(whole);
  const hidden = keptOut(whole, shown);
  // All is made before any of it is shown.
  const made = [
    [parts.verdict, verdictBanner(verdict)],
    [parts.problems, problemList(shown.problems, hidden.problems, undefined)],
    [parts.history, eventHistory(shown.events, hidden.events, whole.exporter.startedAt, undefined)],
    [byId("filter"), filterForm(whole, filter)],
    [byId("narrowed"), narrowedNote(shown.clusters.length, whole.clusters.length)],
  ] as const;
  const groups = groupClusters(shown);
  connection.entitle(titleOf(verdict));
  for (const [element, markup] of made) patch(element, markup);
  await clusters.show(groups);
}

/** Rejects where it cannot be shown; what is known then is what was known before. */
async function take(next: FleetDocument): Promise<void> {
  ({ version } = next.exporter);
  const before = fleet;
  // A filter that changes while it is drawn is for it already.
  fleet = next;
  try {
    await render(next);
  } catch (error) {
    fleet = before;
    throw error;
  }
  const changes = before === undefined ? [] : describeChanges(before, next);
  if (changes.length > 0) announce(`${changes.join(". ")}.`);
}

/**
 * The exporter was replaced by another version, which has a page of its own. Without an answer the page stays: it would be
 * lost.
 */
function reloadIfOutdated(answer: Answer): void {
  const hasAnswered = answer.kind !== "failure" || answer.failure === "unshowable";
  const isOutdated = version !== undefined && version !== document.documentElement.dataset["version"];
  if (!hasAnswered || !isOutdated || performance.now() < reloadFromMs) return;
  reloadFromMs = performance.now() + RELOAD_AFTER_MS;
  location.reload();
}

function show(): void {
  connection.show();
  for (const part of Object.values(parts)) tick(part, connection.nowMs());
  clusters.tick();
}

/** Beside the page, and without the credentials that its own URL may hold: no request can be made to such a one. */
function fleetUrl(): URL {
  const url = new URL("api/v1/fleet", location.href);
  [url.username, url.password] = ["", ""];
  return url;
}

const feed = startFeed(fleetUrl(), {
  onQuestion: connection.asked,
  onDocument: take,
  onAnswer: (answer) => {
    connection.answered(answer);
    show();
    reloadIfOutdated(answer);
  },
});

function wake(): void {
  show();
  feed.askNow();
}

setInterval(show, TICK_MS);
document.addEventListener("visibilitychange", wake);
addEventListener("pageshow", wake);
addEventListener("online", wake);
// What could not be shown, by a filter or when it was opened, is not hidden behind answers that nothing has changed.
addEventListener("error", feed.forget);
addEventListener("unhandledrejection", feed.forget);
openTargets();
