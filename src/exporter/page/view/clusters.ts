import type { ApplianceDocument, ClusterDocument, IncidentDocument } from "../../document/schema.ts";
import { subjectKeys } from "../../judge/subjects.ts";
import { memo } from "../../../support/kept.ts";
import { inSlices } from "../../../support/slices.ts";
import { count, listed } from "../../../support/text.ts";
import { toneOf, type JudgedCluster } from "../../view/headline.ts";
import { mastersIn } from "../../view/masters.ts";
import { troubleIn, withPlanned } from "../../view/planned.ts";
import { successionOf } from "../../view/readiness-rows.ts";
import { isInTrouble, type Cell, type Row, type RowGroup } from "../../view/row.ts";
import { clusterRows } from "../../view/rows.ts";
import { relativeTime, type Phrase } from "../../view/time.ts";
import { isNarrowing, type Filter } from "./filter.ts";
import { html, nothing, type Html } from "./html.ts";
import { clusterId, disclosure, labelList, mark, relative, spoken, timeOf, type Reader } from "./parts.ts";
import { adviceList, problemId } from "./problems.ts";
import { axis, pastOf, TIMELINES, type PastView, type StripView } from "./timelines.ts";

/** If there are at most this many clusters, all are open. Otherwise the reader opens them. */
const FEW = 3;
/** A browser updates this many lines of clusters within 50 ms. */
const MAX_LINES = 250;
/** The most open clusters, since tables are most of a page's bytes. */
const MAX_OPEN = 20;
/** The most rows that are well, of each group of rows above the fold. */
const WELL_SHOWN: Readonly<Record<RowGroup["kind"], number>> = {
  vrrp: 8,
  failover: 0,
  websites: 5,
  discovered: 0,
  polling: 0,
};

/** The groups of rows that are not known wherever something else is not, which says more. */
const FOLLOWS: ReadonlySet<RowGroup["kind"]> = new Set(["failover", "websites"]);

/** What the list of clusters shows. */
export interface ClustersView extends Reader {
  readonly filter: Filter;
  readonly strips: StripView;
  /** The incidents of each cluster. */
  readonly incidents: ReadonlyMap<string, readonly IncidentDocument[]>;
}

/** Renders a line for each cluster, in slices: 250 lines and the tables of at most 20 open clusters. */
export async function clusterList(clusters: readonly JudgedCluster[], view: ClustersView): Promise<Html> {
  const wanted = clusters.flatMap((each) => {
    const id = clusterId(each.cluster.name);
    const byDefault = clusters.length <= FEW || chosenIn(each, view).length > 0;
    return !view.closed.has(id) && (byDefault || view.opened.has(id)) ? [id] : [];
  });
  const opened = new Set(wanted.slice(0, MAX_OPEN));
  const shown = clusters.filter(
    ({ cluster }, place) => place < MAX_LINES || opened.has(clusterId(cluster.name)),
  );
  const items: Html[] = [];
  const rest = [...view.opened].filter((id) => id.startsWith(REST));
  const open = { ...view, opened: new Set([...opened, ...rest]) };
  await inSlices(shown, (each) => void items.push(clusterItem(each, open)));
  const left = clusters.length - shown.length;
  return html`<h2 class="hidden-visually">Clusters <span>${clusters.length}</span></h2>
    ${wanted.length === opened.size ? nothing : html`<p class="note">Only ${MAX_OPEN} of ${wanted.length} are open: close some to see others.</p>`}
    <ul class="clusters">
      ${items}
    </ul>
    ${left === 0 ? nothing : html`<p class="note">${count(left, "more cluster")}: use the filter to see them.</p>`}`;
}

/** Returns the problem of the cluster that the reader chose. */
function chosenIn({ problems }: JudgedCluster, { filter }: ClustersView): JudgedCluster["problems"] {
  return filter.problem === "" ? [] : problems.filter((each) => problemId(each) === filter.problem);
}

function clusterItem(judged: JudgedCluster, view: ClustersView): Html {
  const { cluster, problems } = judged;
  const past = pastOf([{ kind: "cluster", cluster: cluster.name }], view.strips);
  const incidents = view.incidents.get(cluster.name) ?? [];
  const { nowMs, filter } = view;
  const since = sinceOf(judged);
  const age = since === undefined ? "" : relativeTime("long", Date.parse(since), nowMs);
  const line = lineOf(cluster, { cluster, problems, since, age, past, hasLabels: isNarrowing(filter) });
  return html`<li class="cluster" data-level="${toneOf(judged)}" ${incidentsOf(incidents)}>
    ${disclosure(view, clusterId(cluster.name), line, () => clusterBody(judged, view))}
  </li> `;
}

interface LineInputs extends JudgedCluster {
  /** The instant at which the trouble began, if that is known, and how long ago that is. */
  readonly since: string | undefined;
  readonly age: string;
  readonly past: PastView | undefined;
  readonly hasLabels: boolean;
}

/** Most lines stay as they are from one update to the next. */
const lineOf = memo(({ cluster, problems, since, age, past, hasLabels }: LineInputs): Html => {
  const judged = { cluster, problems };
  const { labels, name, groups, websites, appliances } = cluster;
  const masters = mastersIn({ groups }).join("; ");
  const { names, summary } = successionOf(appliances) ?? {};
  const next =
    names === undefined ? nothing : html`${spoken(", next")}<span title="${summary ?? ""}">→ ${names}</span>`;
  return html`${mark(toneOf(judged))}
    <h3 title="${labelsIn(labels)}">${name}</h3>
    <span class="level"
      ><span class="kinds">${troubleOf(judged)}</span>
      ${since === undefined ? nothing : timeOf(since, age)}${hasLabels ? labelList(labels) : nothing}</span
    >
    <span class="who">${masters === "" ? nothing : spoken("MASTER")}${masters} ${next}</span>
    <span class="sites">${websitesIn(websites)}</span
    >${past === undefined ? nothing : html`${past.strip}<span class="figure">${past.figure}</span>`}`;
});

function troubleOf({ cluster, problems }: JudgedCluster): string {
  const isDisabled = cluster.appliances.every(({ state }) => state === "disabled");
  const quiet = cluster.level === "well" ? "Well" : isDisabled ? "Disabled" : "Not known yet";
  return troubleIn(problems) ?? quiet;
}

/** Returns the instant at which the oldest of the problems that count began, if that is known. */
export function sinceOf({ problems }: JudgedCluster): string | undefined {
  const counted = problems.filter(({ isPlanned }) => isPlanned !== true);
  return (counted.length === 0 ? problems : counted).flatMap(({ since }) => since ?? []).toSorted()[0];
}

function labelsIn(labels: ClusterDocument["labels"]): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** Returns `9/10 websites`, or `10 websites` while none is known; nothing without websites. */
function websitesIn(websites: ClusterDocument["websites"]): string {
  const total = count(websites.length, "website");
  if (websites.length === 0) return "";
  const states = websites.map((each) => each.states.map(({ state }) => state));
  if (states.flat().every((state) => state === "unknown")) return total;
  const up = states.filter((own) => own.every((state) => UP.has(state))).length;
  return `${up}/${total}`;
}

const UP: ReadonlySet<string> = new Set(["up", "unstable", "partially_down"]);

/** The beginning of the ids of the folded parts of clusters. */
const REST = "rest-";

/** Returns what to do, and a table: what is wrong in front of what is well, most of which is folded. */
function clusterBody(judged: JudgedCluster, view: ClustersView): Html {
  const { cluster, problems } = judged;
  const marked = new Set(chosenIn(judged, view).flatMap(({ keys = [] }) => keys));
  const table = { ...view, cluster, marked };
  const groups = withPlanned(clusterRows(cluster), problems).map(({ kind, title, rows }) => {
    const isUrgent = (row: Row): boolean =>
      isInTrouble(row) && !(FOLLOWS.has(kind) && row.level === "unknown");
    const [wrong, well] = [rows.filter(isUrgent), rows.filter((row) => !isUrgent(row))];
    const shown = [...wrong, ...well.slice(0, WELL_SHOWN[kind])];
    return { kind, title, shown, folded: well.slice(WELL_SHOWN[kind]) };
  });
  const shown = groups.map((each) => ({ ...each, rows: each.shown })).filter(({ rows }) => rows.length > 0);
  const folded = groups.map((each) => ({ ...each, rows: each.folded })).filter(({ rows }) => rows.length > 0);
  const rest = `${REST}${clusterId(cluster.name)}`;
  return html`${adviceList(problems, view.incidents.get(cluster.name) ?? [], view.filter)}${clusterTable(shown, table, "")}
  ${folded.length === 0 ? nothing : disclosure(view, rest, html`${foldedWords(folded)}`, () => clusterTable(folded, table, "The rest of "))}`;
}

/** Returns what is folded: `5 more websites, all 200 · readiness · polling`. */
function foldedWords(folded: readonly RowGroup[]): string {
  return folded
    .toSorted((one, other) => Number(other.kind === "websites") - Number(one.kind === "websites"))
    .map(({ kind, title, rows }) => {
      const states = new Set(rows.flatMap(({ cells }) => cells.map(({ state }) => state)));
      const all = [...states].filter((state) => typeof state === "string");
      if (kind === "vrrp") return count(rows.length, "more VRRP group");
      if (kind !== "websites") return title.slice(0, 1).toLowerCase() + title.slice(1);
      if (rows.some(({ level }) => level !== "well"))
        return `${count(rows.length, "more website")}, not known`;
      const said = states.size < 3 && all.every((state) => /^\d+$/.test(state)) ? listed(all) : "up";
      return `${count(rows.length, "more website")}, all ${said}`;
    })
    .join(" · ");
}

interface TableView extends ClustersView {
  readonly cluster: ClusterDocument;
  /** The keys of the subjects that the chosen problem is about. */
  readonly marked: ReadonlySet<string>;
}

function clusterTable(groups: readonly RowGroup[], view: TableView, prefix: string): Html {
  const { name, appliances, labels } = view.cluster;
  const isFolded = prefix !== "";
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${prefix}Table of ${name}">
    <table>
      <colgroup>
        <col class="subject" />
        <col class="member" span="${appliances.length}" />
        <col class="past" />
        <col class="figure" />
      </colgroup>
      <thead class="${isFolded ? "hidden-visually" : ""}">
        <tr>
          <td>${isFolded ? nothing : labelList(labels)}</td>
          ${appliances.map((appliance) => columnHeader(appliance, view))}
          <td class="past">${isFolded ? nothing : axis(view.strips)}</td>
          <td class="figure">${isFolded ? nothing : TIMELINES[view.strips.name].short}</td>
        </tr>
      </thead>
      ${groups.map((group, nth) => rowGroup(group, view, nth > 0 || isFolded))}
    </table>
  </div>`;
}

function columnHeader(appliance: ApplianceDocument, { cluster, marked }: TableView): Html {
  const { name, labels, state, level, poll, key = subjectKeys.appliance(name) } = appliance;
  const own = Object.entries(labels).filter(([label, value]) => cluster.labels[label] !== value);
  const words = state ?? poll?.reason?.replaceAll("_", " ") ?? "not polled yet";
  const isWell = level === "well";
  return html`<th scope="col" data-level="${level}" ${marked.has(key) ? html`aria-current="true"` : nothing}>
    ${isWell ? nothing : mark(level)}<span class="name">${name}</span>
    ${isWell ? spoken(words) : html`<span class="words">${words}</span>`}
    ${labelList(Object.fromEntries(own))}
  </th> `;
}

function rowGroup({ kind, title, rows }: RowGroup, view: TableView, hasTitle: boolean): Html {
  const columns = view.cluster.appliances.length + 1;
  return html`<tbody class="${kind}">
    ${
      hasTitle
        ? html`<tr class="group">
            <th scope="rowgroup" colspan="${columns}">${title}</th>
            <td class="past"></td>
            <td class="figure"></td>
          </tr>`
        : nothing
    }
    ${rows.map((row) => rowLine(row, view))}
  </tbody>`;
}

/** The part of the view that a row needs. */
type RowView = Reader & Partial<Pick<TableView, "strips" | "marked" | "incidents" | "cluster">>;

/** Returns the attribute by which a click on a strip finds the incident of that time: id, begin and end of each. */
function incidentsOf(incidents: readonly IncidentDocument[]): Html {
  const all = incidents.map(({ id, begin, end = "" }) => `${id} ${begin} ${end}`);
  return all.length === 0 ? nothing : html`data-incidents="${all.join(",")}"`;
}

export function rowLine(row: Row, view: RowView): Html {
  const { title, aside = "", level, keys = [], words, cells, subjects = [] } = row;
  const past = view.strips && pastOf(subjects, view.strips, true);
  const isMarked = keys.some((key) => view.marked?.has(key) === true);
  const incidents = view.incidents?.get(view.cluster?.name ?? "") ?? [];
  const own = incidents.filter((each) => each.keys?.some((key) => keys.includes(key)) === true);
  return html`<tr data-level="${level}" ${isMarked ? html`aria-current="true"` : nothing} ${incidentsOf(own)}>
    <th scope="row">
      <span class="title">${title} <span class="aside">${aside}</span></span>
      <span class="words">${words.map((each) => html`${inline(each, view)} `)}</span>
    </th>
    ${cells.map((cell) => cellOf(cell, view))}${
      view.strips === undefined
        ? nothing
        : html`<td class="past">${past?.strip ?? nothing}</td>
            <td class="figure">${past?.figure ?? nothing}</td>`
    }
  </tr> `;
}

function cellOf({ sign, state, details = [] }: Cell, reader: Reader): Html {
  if (sign === undefined) return html`<td>${inline(state, reader)}</td> `;
  const hasMark = sign !== "well" || state === "MASTER";
  return html`<td data-level="${sign}">
    ${hasMark ? mark(sign === "well" ? "master" : sign) : nothing}<span class="state"
      >${inline(state, reader)}</span
    >
    <span class="more">${details.map((each) => html`<span>${inline(each, reader)}</span> `)}</span>
  </td> `;
}

function inline(phrase: Phrase, reader: Reader): Html {
  return typeof phrase === "string" ? html`${phrase}` : relative(phrase.wording, phrase.at, reader);
}
