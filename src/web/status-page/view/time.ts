import { html, nothing, type Html } from "./html.ts";

/** How an instant is put beside now: `3 min ago`, `for 3 min`, and for what is planned `in 4 s`. */
export type Wording = "ago" | "for" | "next";

/** What the server knows is now; the browser, whose clock goes on, fills the words in by itself and gives none. */
export type Now = number | undefined;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Times in Unix milliseconds. An instant on the wrong side of now, by clocks that differ, is now. */
export function relativeTime(wording: Wording, atMs: number, nowMs: number): string {
  const agoMs = nowMs - atMs;
  switch (wording) {
    case "ago":
      return agoMs < SECOND ? "just now" : `${duration(agoMs)} ago`;
    case "for":
      return agoMs < SECOND ? "since just now" : `for ${duration(agoMs)}`;
    case "next":
      return agoMs > -SECOND ? "now" : `in ${duration(-agoMs)}`;
    default:
      return wording satisfies never;
  }
}

/** The two greatest units that say something: `43 s`, `3 min`, `2 h 5 min`, `3 d 4 h`; rounded down. */
export function duration(durationMs: number): string {
  if (durationMs < MINUTE) return `${Math.floor(durationMs / SECOND)} s`;
  if (durationMs < HOUR) return `${Math.floor(durationMs / MINUTE)} min`;
  if (durationMs < DAY) return inTwo(durationMs, [HOUR, "h"], [MINUTE, "min"]);
  return inTwo(durationMs, [DAY, "d"], [HOUR, "h"]);
}

type Unit = readonly [sizeMs: number, name: string];

function inTwo(durationMs: number, [greatMs, great]: Unit, [smallMs, small]: Unit): string {
  const [greats, smalls] = [Math.floor(durationMs / greatMs), Math.floor((durationMs % greatMs) / smallMs)];
  return smalls === 0 ? `${greats} ${great}` : `${greats} ${great} ${smalls} ${small}`;
}

/** `2026-11-21 12:03:04 UTC`; `at`: RFC 3339 in UTC. */
export function absoluteTime(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}

/** An instant in words relative to now, which the browser keeps right; the absolute time is its title. */
export function relative(wording: Wording, at: string, nowMs: Now): Html {
  const words = nowMs === undefined ? "" : relativeTime(wording, Date.parse(at), nowMs);
  return html`<time datetime="${at}" data-wording="${wording}" title="${absoluteTime(at)}">${words}</time>`;
}

/** The same of an instant that may not be known. */
export function relativeIfKnown(
  wording: Wording,
  at: string | undefined,
  nowMs: Now,
  or: Html = nothing,
): Html {
  return at === undefined ? or : relative(wording, at, nowMs);
}

/** The absolute time itself. */
export function absolute(at: string): Html {
  return html`<time datetime="${at}">${absoluteTime(at)}</time>`;
}

/** `43 ms`, `1.2 s`, `12 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * SECOND)} ms`;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}
