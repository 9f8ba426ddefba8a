import type { Strip, Strips, StripScale, StripSubject } from "../../view/strip.ts";
import { NOTABLE_MS, pastWords, percent } from "../../view/past.ts";
import { duration } from "../../view/time.ts";
import { instantOf } from "../../judge/words.ts";
import { memo } from "../../../support/kept.ts";
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
  const known = subjects.filter((subject) => view.strip(subject) !== undefined);
  const strips = known.flatMap((subject) => view.strip(subject) ?? []);
  const [first] = strips;
  const names = known.map((subject) => (subject.kind === "website" ? `${subject.protocol} ` : ""));
  return first && pastIn(first, { strips, names, scale: view.name, isReadable });
}

interface PastInputs {
  /** At least one. */
  readonly strips: readonly Strip[];
  /** What their words begin with where they differ. */
  readonly names: readonly string[];
  readonly scale: StripScale;
  readonly isReadable: boolean;
}

/** Strips are the same for some seconds. */
const pastIn = memo(({ strips, names, scale, isReadable }: PastInputs): PastView => {
  const all = strips.map((own) => pastWords({ ...own, unknownMs: unknownMsIn(own) }));
  const isSame = all.every((words) => words === all[0]);
  const words = isSame ? (all[0] ?? "") : all.map((each, nth) => `${names[nth] ?? ""}${each}`).join("; ");
  const [least] = strips.toSorted((one, other) => shareOf(one) - shareOf(other));
  return {
    strip: picture(worstOf(strips), `${TIMELINES[scale].title}: ${words}`, isReadable),
    figure: least === undefined ? "" : figureOf(least),
  };
});

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
