import type { IncomingMessage } from "node:http";
import { compress } from "./gzip.ts";
import { metricsReply } from "./metrics-text.ts";
import { text, type Reply } from "./reply.ts";

const MODULES = ["vrrp", "websites"] as const;
export type ProbeModule = (typeof MODULES)[number];

export interface ProbeParameters {
  /** Name of a cluster or of an appliance. */
  readonly target: string;
  /** `undefined`: all of them. */
  readonly module: ProbeModule | undefined;
  /** How long the probe may take; Infinity where nobody says. */
  readonly timeoutMs: number;
}

export type ParsedProbe =
  | { readonly ok: true; readonly parameters: ProbeParameters }
  | { readonly ok: false; readonly message: string };

/** Polls what is called so, now: its text, or `undefined` where nothing is. */
export type Probe = (parameters: ProbeParameters) => Promise<string | undefined>;

/** What is left for the answer's way back, and how much of the time it may take at most. */
const MARGIN_MS = 500;
const MARGIN_SHARE = 0.5;
/** Answers under way at once; less than there are connections, so that scrapes always get in. */
const MAX_PROBES = 400;

/**
 * Reads `/probe?target=NAME[&module=vrrp|websites]` and the header with which Prometheus tells its own deadline, in
 * seconds; one that is no number above 0 is as good as none.
 */
export function parseProbe(url: string, scrapeTimeout: string | undefined): ParsedProbe {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
  const [target = "", ...others] = url.includes("?") ? query.getAll("target") : [];
  if (target === "" || others.length > 0)
    return { ok: false, message: "Expected one target: /probe?target=NAME" };
  const asked = query.getAll("module");
  const module = MODULES.find((known) => known === asked[0]);
  if (asked.length > 1 || (asked.length === 1 && module === undefined))
    return { ok: false, message: `Unknown module; there are ${MODULES.join(" and ")}` };
  return { ok: true, parameters: { target, module, timeoutMs: timeoutMs(scrapeTimeout) } };
}

function timeoutMs(scrapeTimeout = ""): number {
  const isNumber = /^\d+(\.\d*)?(e[+-]?\d+)?$/i.test(scrapeTimeout);
  const givenMs = isNumber ? Number(scrapeTimeout) * 1000 : 0;
  return givenMs > 0 ? givenMs - Math.min(MARGIN_MS, givenMs * MARGIN_SHARE) : Number.POSITIVE_INFINITY;
}

/** 200 whatever the polls yield, 400 for parameters that say nothing, 404 for a name that nothing has, 503 for one too many. */
export function createProbePage(probe: Probe): (request: IncomingMessage) => Promise<Reply> {
  let underWay = 0;
  return async (request) => {
    const parsed = parseProbe(request.url ?? "", headerOf(request));
    if (!parsed.ok) return text(400, parsed.message);
    if (underWay >= MAX_PROBES) return text(503, "Too many probes at once", { "retry-after": "1" });
    underWay += 1;
    try {
      const body = await unhurried(request, probe(parsed.parameters));
      if (body === undefined) return text(404, "No enabled cluster or appliance is called so");
      return await metricsReply(request, {
        plain: () => Promise.resolve(Buffer.from(body)),
        gzipped: () => compress(body),
      });
    } finally {
      underWay -= 1;
    }
  };
}

function headerOf({ headers }: IncomingMessage): string | undefined {
  const value = headers["x-prometheus-scrape-timeout-seconds"];
  return typeof value === "string" ? value : undefined;
}

/** A connection on which nothing moves is let go, but not while it is us who are awaited. */
async function unhurried<T>({ socket }: IncomingMessage, work: Promise<T>): Promise<T> {
  const inactivityTimeoutMs = socket.timeout ?? 0;
  socket.setTimeout(0);
  try {
    return await work;
  } finally {
    socket.setTimeout(inactivityTimeoutMs);
  }
}
