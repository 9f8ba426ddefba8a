import { LOST_TITLE, lostMessage, type Failure } from "../view/connection.ts";
import { freshnessOf, type Freshness } from "../view/freshness.ts";
import { absoluteTime } from "../view/time.ts";
import { byId } from "./elements.ts";
import type { Answer } from "./feed.ts";
import { createServerClock, momentNow, type Moment } from "./server-clock.ts";

/** Knows whether what the page shows is current, and has the page say so. */
export interface Connection {
  asked(): void;
  answered(answer: Answer): void;
  /** The title of the page, while what it shows is current. */
  entitle(title: string): void;
  /** Says how things are now. */
  show(): void;
  /** The server's time; that of its last answer while there is no newer one. Unix milliseconds. */
  nowMs(): number;
}

/** `announce`: has a sentence read out. */
export function createConnection(announce: (sentence: string) => void): Connection {
  const [line, banner] = [byId("connection"), byId("lost")];
  const clock = createServerClock();
  let question: Moment | undefined;
  let answer: Moment = momentNow();
  let answeredAtMs = clock.nowMs();
  let failed: { readonly failure: Failure } | undefined;
  let shown: Freshness | "none" = "none";
  let title = document.title;

  const current = (): Freshness =>
    freshnessOf({
      answerAgeMs: answer.ageMs(),
      questionAgeMs: question?.ageMs(),
      hasFailed: failed !== undefined,
    });

  function turn(freshness: Freshness): void {
    if (freshness === "lost") announce("No answer from the exporter.");
    if (shown === "lost" && freshness === "live") announce("The exporter answers again.");
    document.documentElement.dataset["connection"] = freshness;
    banner.hidden = freshness !== "lost";
    shown = freshness;
  }

  return {
    asked: () => (question = momentNow()),
    answered: (given) => {
      question = undefined;
      if (given.kind === "failure") {
        failed = given;
        return;
      }
      failed = undefined;
      answer = momentNow();
      clock.set(given.serverMs);
      answeredAtMs = clock.nowMs();
    },
    entitle: (text) => (title = text),
    show: () => {
      const freshness = current();
      if (freshness !== shown) turn(freshness);
      setText(document.querySelector("title"), freshness === "lost" ? LOST_TITLE : title);
      setText(line, lineOf(freshness, answeredAtMs));
      if (freshness === "lost") setText(banner, lostMessage(answeredAtMs, clock.nowMs(), failed?.failure));
    },
    nowMs: () => (current() === "live" ? clock.nowMs() : answeredAtMs),
  };
}

function setText(element: Element | null, text: string): void {
  if (element !== null && element.textContent !== text) element.textContent = text;
}

function lineOf(freshness: Freshness, answeredAtMs: number): string {
  switch (freshness) {
    case "live":
      return `Live, ${absoluteTime(new Date(answeredAtMs).toISOString()).slice(11)}`;
    case "asking":
      return "Asking the exporter…";
    case "lost":
      return "No answer";
    default:
      return freshness satisfies never;
  }
}
