import type { FleetDocument } from "../../../status/schema.ts";
import type { Failure } from "../view/connection.ts";
import { createCopyTest } from "./copy-test.ts";

/** From one question to the next. */
const INTERVAL_MS = 1000;
/** A question that takes longer is given up, and asked anew. */
const TIMEOUT_MS = 5000;
/** A server that wants to be left alone is asked again after this long at the latest. */
const MAX_PAUSE_MS = 60_000;

/** What came of one question. */
export type Answer =
  | { readonly kind: "document"; readonly document: FleetDocument; readonly serverMs: number | undefined }
  | { readonly kind: "unchanged"; readonly serverMs: number | undefined }
  | { readonly kind: "failure"; readonly failure: Failure };

export interface Feed {
  /** Asks without waiting for its time. */
  askNow(): void;
  /** Has the whole document sent anew, though it be the one that was sent before. */
  forget(): void;
}

export interface FeedHandlers {
  onQuestion(): void;
  /** Rejects where the document cannot be shown: it is asked for anew, and what came of the question is a failure. */
  onDocument(document: FleetDocument): Promise<void>;
  onAnswer(answer: Answer): void;
}

/** Asks for the document every second, for as long as the page is there. */
export function startFeed(url: URL, { onQuestion, onDocument, onAnswer }: FeedHandlers): Feed {
  const isCopy = createCopyTest();
  let etag: string | undefined;
  let timer: number | undefined;
  let isAsking = false;

  async function ask(): Promise<void> {
    clearTimeout(timer);
    if (isAsking) return;
    isAsking = true;
    const startedMs = performance.now();
    let pauseMs = 0;
    onQuestion();
    try {
      const tag = etag;
      const response = await request(url, tag);
      pauseMs = pauseOf(response);
      const isOurs = isAnswerTo(tag, response) && !isCopy(dateOf(response), startedMs);
      onAnswer(isOurs ? await take(response) : failed(response.status));
    } catch {
      onAnswer(failed(undefined));
    } finally {
      isAsking = false;
      const restMs = INTERVAL_MS - (performance.now() - startedMs);
      timer = setTimeout(() => void ask(), Math.max(restMs, pauseMs, INTERVAL_MS / 4));
    }
  }

  async function take(response: Response): Promise<Answer> {
    const answer = await read(response);
    if (answer.kind !== "document") return answer;
    etag = undefined;
    try {
      await onDocument(answer.document);
    } catch (error) {
      reportError(error);
      return failed("unshowable");
    }
    etag = response.headers.get("etag") ?? undefined;
    return answer;
  }

  void ask();
  return { askNow: () => void ask(), forget: () => (etag = undefined) };
}

function failed(failure: Failure): Answer {
  return { kind: "failure", failure };
}

/** Whether it may be one to a question with this tag: that nothing has changed can be said of what was asked about alone. */
function isAnswerTo(tag: string | undefined, { status, headers }: Response): boolean {
  return status !== 304 || (tag !== undefined && headers.get("etag") === tag);
}

function request(url: URL, etag: string | undefined): Promise<Response> {
  return fetch(unlikeAnyOther(url), {
    // Ours is the only cache: what is shown is never older than what was asked.
    cache: "no-store",
    redirect: "error",
    headers: etag === undefined ? {} : { "if-none-match": etag },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

/** The same to the exporter, which reads no query here; a cache between has stored nothing under this one. */
function unlikeAnyOther(url: URL): URL {
  const unlike = new URL(url);
  unlike.search = crypto.getRandomValues(new Uint32Array(2)).join("-");
  return unlike;
}

async function read(response: Response): Promise<Answer> {
  const serverMs = dateOf(response);
  if (response.status === 304) return { kind: "unchanged", serverMs };
  if (response.status !== 200) return failed(response.status);
  const document = parse(await response.text());
  return isFleet(document) ? { kind: "document", document, serverMs } : failed(response.status);
}

/** Nothing where it is no JSON: the log-in page of a proxy, say. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Told from what a proxy may answer in its place. */
function isFleet(value: unknown): value is FleetDocument {
  return typeof value === "object" && value !== null && "verdict" in value && "clusters" in value;
}

/** The server's time; the header is cut to the second, so half of one is added. */
function dateOf({ headers }: Response): number | undefined {
  const dateMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(dateMs) ? undefined : dateMs + 500;
}

/** What Retry-After asks for, in milliseconds; its form with a date is not used by us. */
function pauseOf({ headers }: Response): number {
  const seconds = Number(headers.get("retry-after") ?? 0);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_PAUSE_MS) : 0;
}
