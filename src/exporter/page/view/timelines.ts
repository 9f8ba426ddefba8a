import type { Strip, Strips, StripScale, StripSubject } from "../../view/strip.ts";
import { NOTABLE_MS, pastWords, percent } from "../../view/past.ts";
import { duration } from "../../view/time.ts";
import { instantOf } from "../../judge/words.ts";
import { html, nothing, type Html } from "./html.ts";
import { clock } from "./parts.ts";
import { picture, swatch, worstOf } from "./strip.ts";

export const TIMELINES = {
  day: { title: "Last 24 hours", short: "24 h" },
  month: { title: "Last 30 days", short: "30 days" },
} as const satisfies Record<StripScale, unknown>;

const MARKS = 4;
/** The most damaged files that the page names. */
const NAMED_FILES = 3;

/** The strips of clusters in the view of one reader. */
export interface StripView {
  readonly name: StripScale;
  readonly nowMs: number;
  readonly strip: (of: StripSubject) => Strip | undefined;
  readonly damages: Strips["damages"];
}

export function stripView(timelines: Strips, name: StripScale, nowMs: number): StripView {
  return {
    name,
    nowMs,
    strip: (of) => timelines.strip(of, name, nowMs),
    damages: timelines.damages,
  };
}

/** The past of a subject: its strip, and the part of the known time in which it was up. */
export interface PastView {
  readonly strip: Html;
  readonly figure: string;
}

/** Returns the past of a row's subjects, the worst of them at each time; `undefined` if nothing is known of them. */
export function pastOf(
  subjects: readonly StripSubject[],
  view: StripView,
  isReadable = false,
): PastView | undefined {
  const known = subjects.flatMap((subject) => {
    const own = view.strip(subject);
    return own === undefined ? [] : [{ subject, own }];
  });
  const [first] = known;
  if (first === undefined) return undefined;
  const strips = known.map(({ own }) => own);
  const [least = first.own] = strips.toSorted((one, other) => shareOf(one) - shareOf(other));
  return {
    strip: picture(
      worstOf(first.own, { strips }),
      `${TIMELINES[view.name].title}: ${wordsOf(known)}`,
      isReadable,
    ),
    figure: figureOf(least),
  };
}

/** Returns the past in words: of several protocols each by its name, unless all had the same. */
function wordsOf(known: readonly { readonly subject: StripSubject; readonly own: Strip }[]): string {
  const all = known.map(({ subject, own }) => {
    const words = pastWords({ ...own, unknownMs: unknownMsIn(own) });
    return { words, named: subject.kind === "website" ? `${subject.protocol} ${words}` : words };
  });
  const [first] = all;
  const isSame = all.every(({ words }) => words === first?.words);
  return isSame ? (first?.words ?? "") : all.map(({ named }) => named).join("; ");
}

/** Returns the least part of the known time in which a subject may have been up. */
function shareOf({ upMs, downMs, unansweredMs }: Strip): number {
  const knownMs = upMs + downMs + unansweredMs;
  return knownMs === 0 ? 1 : upMs / knownMs;
}

/** Returns the part of the known time in which a subject was up; the least that is possible if nobody answered meanwhile. */
function figureOf({ upMs, downMs, unansweredMs }: Strip): string {
  if (upMs + downMs === 0) return "–";
  return unansweredMs < NOTABLE_MS ? percent(upMs, downMs) : `≥ ${percent(upMs, downMs + unansweredMs)}`;
}

const LEGEND = [
  ["up", "up"],
  ["impaired", "impaired"],
  ["planned", "planned"],
  ["down", "down"],
  ["unknown", "not known"],
] as const;

/** Returns what the bars of strips mean, and how long the exporter watched. */
export function legend(view: StripView): Html {
  const exporter = view.strip({ kind: "exporter" });
  const bars = LEGEND.map(([band, words]) => {
    return html`<span>${swatch(band)} ${words}</span> `;
  });
  return html`<p class="legend note">${bars} ${watched(exporter, view)}${unreadable(view.damages())}</p>`;
}

/** Returns the attributes by which the script finds the time of a bin. */
export function scaleOf(view: StripView): { readonly beginMs: number; readonly binMs: number } {
  return view.strip({ kind: "exporter" }) ?? { beginMs: 0, binMs: 0 };
}

/** Says once since when the exporter watches, and how long it did not watch since then. */
function watched(exporter: Strip | undefined, view: StripView): Html {
  if (exporter === undefined) return nothing;
  const { beginMs, sinceMs, unknownMs } = exporter;
  const since =
    sinceMs - beginMs < NOTABLE_MS
      ? nothing
      : html`<span>watched since ${clock(instantOf(sinceMs), view)}</span> `;
  const gaps =
    unknownMs < NOTABLE_MS
      ? nothing
      : html`<span>The exporter did not watch for ${duration(unknownMs)}.</span> `;
  return html`${since}${gaps}`;
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

/** Returns the times at the beginning of each quarter. */
export function axis(view: StripView): Html {
  const exporter = view.strip({ kind: "exporter" });
  if (exporter === undefined) return nothing;
  const { beginMs, binMs, bins } = exporter;
  const times = Array.from({ length: MARKS }, (_, nth) => {
    const at = instantOf(beginMs + (nth * bins.length * binMs) / MARKS);
    return view.name === "day"
      ? html`<time data-clock="hour" datetime="${at}">${at.slice(11, 16)}</time>`
      : html`<span>${at.slice(5, 10)}</span>`;
  });
  return html`<span class="times" aria-hidden="true">${times}</span>`;
}
