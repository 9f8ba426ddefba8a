import type { ClusterDocument } from "../../document/schema.ts";
import { addressName } from "../../judge/words.ts";
import { groupBy } from "../../../support/group-by.ts";
import { count } from "../../../support/text.ts";
import type { Strip, Strips, StripScale, StripSubject } from "../../view/strip.ts";
import { NOTABLE_MS, pastWords } from "../../view/past.ts";
import { duration } from "../../view/time.ts";
import { html, nothing, type Html } from "./html.ts";
import { picture } from "./strip.ts";

export const TIMELINES = { day: "Last 24 hours", month: "Last 30 days" } as const satisfies Record<
  StripScale,
  string
>;

/** The most strips of a cluster, since rendering thousands would block the exporter. */
const MAX_STRIPS = 256;
const MARKS = 4;
/** The most damaged files that the page names. */
const NAMED_FILES = 3;

/** The strips of clusters in the view of one reader. */
export interface StripView {
  readonly name: StripScale;
  readonly strip: (of: StripSubject) => Strip | undefined;
  readonly damages: Strips["damages"];
}

export function stripView(timelines: Strips, name: StripScale, nowMs: number): StripView {
  return { name, strip: (of) => timelines.strip(of, name, nowMs), damages: timelines.damages };
}

/** Returns one strip of the worst state of a cluster; nothing if nothing is known. */
export function clusterStrip({ name: cluster }: ClusterDocument, { name, strip }: StripView): Html {
  const own = strip({ kind: "cluster", cluster });
  return own === undefined ? nothing : picture(own, `${TIMELINES[name]}: ${wordsOf(own, undefined)}`);
}

/** Returns a strip for each VRRP group and website of a cluster; groups whose strips are equal share one. */
export function stripTable(cluster: ClusterDocument, { name, strip, damages }: StripView): Html {
  const exporter = strip({ kind: "exporter" });
  const all = rowsOf(cluster);
  const rows = all.slice(0, MAX_STRIPS).flatMap(({ title, isGroup, subject }) => {
    const own = strip(subject);
    return own === undefined ? [] : [{ title, isGroup, own }];
  });
  const [first] = rows;
  if (first === undefined) return nothing;
  const alike = groupBy(rows, ({ isGroup, title, own }) => (isGroup ? JSON.stringify(own) : title));
  const left = all.length - MAX_STRIPS;
  return html`<div class="timelines" role="group" aria-label="${TIMELINES[name]} of ${cluster.name}">
    <p class="note">${TIMELINES[name]}, UTC.${watched(exporter)}${unreadable(damages())}</p>
    <ul>
      ${axis(first.own, name)} ${Array.from(alike.values(), (same) => stripRow(same, exporter))}
    </ul>
    ${left > 0 ? html`<p class="note">${count(left, "more strip")}: not shown.</p>` : nothing}
  </div>`;
}

function rowsOf({ name: cluster, groups, websites }: ClusterDocument) {
  return [
    ...groups.map((group) => {
      const { vhid, vip, interface: name } = group;
      const subject = { kind: "group", cluster, vhid, vip, interface: name } as const;
      return { title: addressName(vip, group), isGroup: true, subject };
    }),
    ...websites.flatMap(({ id, name, states }) =>
      states.map(({ protocol = "" as const }) => ({
        title: `${name} ${protocol}`.trimEnd(),
        isGroup: false,
        subject: { kind: "website", cluster, id, name, protocol } as const,
      })),
    ),
  ];
}

/** Says once how long the exporter did not watch. */
function watched(exporter: Strip | undefined): string {
  const unwatchedMs = exporter === undefined ? 0 : unknownMsIn(exporter);
  return unwatchedMs < NOTABLE_MS ? "" : ` The exporter did not watch for ${duration(unwatchedMs)}.`;
}

/** Names the files of the journal that have damage. */
function unreadable(damages: readonly string[]): string {
  const more = damages.length > NAMED_FILES ? `; and ${damages.length - NAMED_FILES} more files` : "";
  const named = damages.slice(0, NAMED_FILES).join("; ");
  return damages.length === 0 ? "" : ` Unknown since the journal is damaged: ${named}${more}.`;
}

/** Returns the unknown part of the whole strip, including the time before the subject was known. */
function unknownMsIn({ beginMs, sinceMs, unknownMs }: Strip): number {
  return sinceMs - beginMs + unknownMs;
}

function stripRow(
  all: readonly { readonly title: string; readonly own: Strip }[],
  exporter: Strip | undefined,
): Html {
  const [first] = all;
  if (first === undefined) return nothing;
  const { title, own } = first;
  const words = wordsOf(own, exporter);
  const more = all.length === 1 ? nothing : html`<span class="note">and ${all.length - 1} more</span>`;
  return html`<li>
    <span class="title">${title} ${more}</span>
    ${picture(own, words)}
    <span class="words" aria-hidden="true">${words}</span>
  </li> `;
}

/** Returns the times at the beginning of each quarter. */
function axis({ beginMs, binMs, bins }: Strip, name: StripScale): Html {
  const times = Array.from({ length: MARKS }, (_, nth) => {
    const at = new Date(beginMs + (nth * bins.length * binMs) / MARKS).toISOString();
    return name === "day" ? at.slice(11, 16) : at.slice(5, 10);
  });
  return html`<li class="axis note" aria-hidden="true">
    <span class="title"></span>
    <span class="times">${times.map((time) => html`<span>${time}</span>`)}</span>
  </li>`;
}

/** Returns the words about a strip, and since when the subject is known if the exporter watched before. */
function wordsOf(strip: Strip, exporter: Strip | undefined): string {
  const { sinceMs } = strip;
  const isNew = exporter !== undefined && sinceMs - exporter.sinceMs >= NOTABLE_MS;
  const words = pastWords({ ...strip, unknownMs: unknownMsIn(strip) });
  return isNew
    ? `${words}, known since ${new Date(sinceMs).toISOString().slice(5, 16).replace("T", " ")}`
    : words;
}
