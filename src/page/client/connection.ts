import { absoluteTime } from "../view/time.ts";
import { freshnessOf, lostMessage, type Freshness } from "./freshness.ts";

/** The elements and functions of the page that say whether it is current. */
export interface ConnectionDeps {
  readonly line: HTMLElement;
  readonly banner: HTMLElement;
  /** Holds the latest answer: its time and its title. */
  readonly state: HTMLElement;
  readonly announce: (sentence: string) => void;
}

/** Knows whether the page is current. `show` makes the page say so. */
export function createConnection({ line, banner, state, announce }: ConnectionDeps) {
  let answerAgeMs = stopwatch();
  let requestAgeMs: (() => number) | undefined;
  let failure: { readonly status: number | undefined } | undefined;
  let shown: Freshness | undefined;

  function show(): void {
    const contact = {
      answerAgeMs: answerAgeMs(),
      requestAgeMs: requestAgeMs?.(),
      hasFailed: failure !== undefined,
    };
    const freshness = freshnessOf(contact);
    const at = new Date(Number(state.dataset["at"])).toISOString();
    const words = {
      live: `Live, ${absoluteTime(at).slice(11)}`,
      connecting: "Connecting…",
      lost: "No answer",
    };
    const isLost = freshness === "lost";
    if (isLost) banner.textContent = lostMessage(at, contact.answerAgeMs, failure?.status);
    if (isLost !== (shown === "lost")) {
      announce(isLost ? "No answer from the exporter." : "The exporter answers again.");
      banner.hidden = !isLost;
    }
    line.textContent = words[freshness];
    document.title = isLost ? "No answer – appliance-exporter" : (state.dataset["title"] ?? "");
    document.documentElement.dataset["connection"] = freshness;
    shown = freshness;
  }

  return {
    show,
    /** `isNew`: replaces requests in flight; otherwise the age is that of the oldest one. */
    requested: (isNew: boolean) => (requestAgeMs = (isNew ? undefined : requestAgeMs) ?? stopwatch()),
    answered: () => {
      answerAgeMs = stopwatch();
      [requestAgeMs, failure] = [undefined, undefined];
      show();
    },
    /** `status`: of a response that is not the status page. */
    failed: (status: number | undefined) => {
      [requestAgeMs, failure] = [undefined, { status }];
      show();
    },
  };
}

/** Milliseconds from now on. One clock stops while the machine sleeps, the other can be set: the greater age counts. */
function stopwatch(): () => number {
  const [monotonicMs, wallMs] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
}
