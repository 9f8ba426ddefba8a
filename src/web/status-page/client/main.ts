import type { FleetDocument } from "../../../status/schema.ts";
import { describeChanges } from "../view/changes.ts";
import { eventHistory } from "../view/events.ts";
import { filterForm } from "../view/filter-form.ts";
import { applyFilter } from "../view/filter.ts";
import { narrowedNote } from "../view/narrowed.ts";
import { problemList } from "../view/problems.ts";
import { groupClusters } from "../view/standing.ts";
import { titleOf, verdictBanner, verdictOf } from "../view/verdict.ts";
import { createClusterList } from "./cluster-list.ts";
import { createConnection } from "./connection.ts";
import { byId } from "./elements.ts";
import { startFeed } from "./feed.ts";
import { createFilterBox } from "./filter-box.ts";
import { openTargets } from "./open-targets.ts";
import { patch } from "./patch.ts";
import { tick } from "./ticker.ts";

/** How often relative times and the age of the latest answer are put right. */
const TICK_MS = 1000;
/** A page this young was just made by another version; to load it once more would help nobody. */
const RELOAD_AFTER_MS = 30_000;

const announcer = byId("announcer");
const parts = { verdict: byId("verdict"), problems: byId("problems"), history: byId("history") };
const connection = createConnection(announce);
connection.entitle(document.title);
const clusters = createClusterList(connection.nowMs);
const filterBox = createFilterBox(render);
let fleet: FleetDocument | undefined;

function announce(sentence: string): void {
  announcer.textContent = sentence;
}

function render(): void {
  if (fleet === undefined) return;
  const filter = filterBox.filter();
  const shown = applyFilter(fleet, filter);
  const verdict = verdictOf(fleet);
  const hidden = fleet.problems.length - shown.problems.length;
  connection.entitle(titleOf(verdict));
  patch(parts.verdict, verdictBanner(verdict));
  patch(parts.problems, problemList(shown.problems, hidden, undefined));
  patch(parts.history, eventHistory(shown.events, fleet.exporter.startedAt, undefined));
  patch(byId("filter"), filterForm(fleet, filter));
  patch(byId("narrowed"), narrowedNote(shown.clusters.length, fleet.clusters.length));
  clusters.show(groupClusters(shown));
}

function take(next: FleetDocument): void {
  const changes = fleet === undefined ? [] : describeChanges(fleet, next);
  if (changes.length > 0) announce(`${changes.join(". ")}.`);
  fleet = next;
  render();
}

/** The exporter was replaced by another version, which has a page of its own. */
function isOutdated(): boolean {
  const ours = document.documentElement.dataset["version"];
  return fleet !== undefined && fleet.exporter.version !== ours && performance.now() > RELOAD_AFTER_MS;
}

function show(): void {
  if (isOutdated()) location.reload();
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
  onAnswer: (answer) => {
    connection.answered(answer);
    if (answer.kind === "document") take(answer.document);
    show();
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
openTargets();
