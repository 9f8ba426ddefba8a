import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { constants, createGzip } from "node:zlib";
import { z } from "zod";
import { messageOf } from "../../support/errors.ts";
import { clientOf } from "./connections.ts";
import { queryOf } from "./paths.ts";
import { acceptsGzip, BUSY, text, type Reply } from "./reply.ts";

/** The most readings of all clients at the same time. A reading may hang in a thread that the exporter shares. */
const MAX_READERS = 2;
/** The time of each part of the work, after which a reading pauses. */
const SLICE_MS = 10;
/** The longest pause. Only a part that waits for the file system takes so long. */
const MAX_PAUSE_MS = 500;
/** A file system hangs if it has not answered after this time. */
const HANGING_MS = 10_000;
const DAY_MS = 86_400_000;
const MAX_DAYS = 31;
/** The last instant that RFC 3339 can express. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

const NONE = text(404, "The exporter keeps no history; --storage.path sets its folder");
const HANGS = text(503, "The file system of the history does not answer");

export interface HistoryQuery {
  /** The names of clusters; none means all clusters. */
  readonly clusters: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
}

export interface HistoryDeps {
  /** Reads lines of the journal, some at a time. Rejects if the folder cannot be read. */
  readonly read: (query: HistoryQuery) => AsyncIterable<readonly string[]>;
  readonly wallMs: () => number;
}

type Texts = AsyncGenerator<string, void, void>;

/**
 * Streams the lines of the journal that a request wants, with pauses, as fast as its client takes them; returns the reply to any other
 * request. A client has one reading at a time, which keeps its place until the file system has answered. With one place for all, a client
 * that reads slowly would keep it from the others.
 */
export function createHistory(
  deps: HistoryDeps | undefined,
  hanging: () => Promise<void> = () => setTimeout(HANGING_MS, undefined, { ref: false }),
) {
  /** The clients whose readings have not ended. */
  const readers = new Set<string>();

  /** Pauses after a part of a reading, so that all readings together take at most half of the event loop, and polls go on. */
  async function pauseAfter(workMs: number): Promise<void> {
    // Each of n readings works for one part of 2n.
    const pauseMs = workMs * (2 * readers.size - 1);
    await setTimeout(Math.min(pauseMs, MAX_PAUSE_MS), undefined, { ref: false });
  }

  async function* textsFor(client: string, lines: AsyncIterable<readonly string[]>): Texts {
    let workMs = 0;
    try {
      let beganMs = performance.now();
      for await (const some of lines) {
        const joined = some.map((line) => `${line}\n`).join("");
        workMs += performance.now() - beganMs;
        // The time until the client has taken them is not work.
        yield joined;
        if (workMs >= SLICE_MS) {
          await pauseAfter(workMs);
          workMs = 0;
        }
        beganMs = performance.now();
      }
    } finally {
      // The last part counts too, so that many short readings take no more than a long one.
      await pauseAfter(workMs);
      readers.delete(client);
    }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<Reply | undefined> => {
    if (deps === undefined) return NONE;
    const query = parseQuery(queryOf(request), deps.wallMs());
    if (typeof query === "string") return text(400, query);
    const client = clientOf(request.socket.remoteAddress);
    if (readers.has(client) || readers.size >= MAX_READERS) return BUSY;
    readers.add(client);
    const texts = textsFor(client, deps.read(query));
    try {
      const first = await Promise.race([texts.next(), hanging()]);
      if (first === undefined) return HANGS;
      await stream(request, response, first.value ?? "", texts);
      return undefined;
    } catch (error) {
      return text(503, `The history cannot be read: ${messageOf(error)}`);
    } finally {
      // This closes the files, after a reading that hangs.
      texts.return().catch(() => {});
    }
  };
}

async function stream(
  request: IncomingMessage,
  response: ServerResponse,
  first: string,
  others: Texts,
): Promise<void> {
  const isCompressed = acceptsGzip(request.headers["accept-encoding"]);
  const encoding = isCompressed ? { "content-encoding": "gzip" } : {};
  response.writeHead(200, {
    // This type is not registered, but has the name of the files. Other names of the form, such as application/x-ndjson, are not registered
    // either.
    "content-type": "application/jsonl",
    "cache-control": "no-store",
    vary: "accept-encoding",
    ...encoding,
    ...response.getHeaders(),
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  async function* all(): Texts {
    yield first;
    yield* others;
  }
  const sending = isCompressed
    ? pipeline(all, createGzip({ level: constants.Z_BEST_SPEED }), response)
    : pipeline(all, response);
  // The client is gone, or took too long.
  await sending.catch(() => response.destroy());
}

/** Returns the parsed query, or a text about its error; an empty parameter counts as absent. */
function parseQuery(query: URLSearchParams, nowMs: number): HistoryQuery | string {
  const [to, from] = [query.get("to") || undefined, query.get("from") || undefined];
  const toMs = to === undefined ? nowMs : parseInstant(to);
  if (toMs === undefined) return `to: ${INSTANT}`;
  const fromMs = from === undefined ? toMs - DAY_MS : parseInstant(from);
  if (fromMs === undefined) return `from: ${INSTANT}`;
  if (fromMs > toMs) return "from is after to";
  if (toMs - fromMs > MAX_DAYS * DAY_MS) return `from and to are more than ${MAX_DAYS} days apart`;
  return { clusters: query.getAll("cluster").filter((name) => name !== ""), fromMs, toMs };
}

const INSTANT = "expected RFC 3339, such as 2026-11-26T04:00:00Z (in a URL, + is %2B), or Unix seconds";
const rfc3339 = z.iso.datetime({ offset: true });

/** Parses RFC 3339 or Unix seconds, like the API of Prometheus; returns Unix time in milliseconds. */
function parseInstant(instant: string): number | undefined {
  const isRfc3339 = rfc3339.safeParse(instant).success;
  const isSeconds = /^\d+(\.\d*)?$/.test(instant);
  if (!isRfc3339 && !isSeconds) return undefined;
  const ms = isRfc3339 ? Date.parse(instant) : Math.round(Number(instant) * 1000);
  return ms >= 0 && ms <= LAST_MS ? ms : undefined;
}
