import { readFileSync } from "node:fs";
import { Client } from "undici";

/**
 * The program runs the HTTP library alone, at the pace of the exporter: the first request to each origin within a second, later ones at
 * their interval, with one timer each. It reads its options from the JSON file in the first argument, and answers each message with its
 * results until then.
 */
export interface BareOptions {
  readonly origins: readonly string[];
  readonly ca: string;
  readonly serverName: string;
  readonly targets: readonly BareTarget[];
  readonly timeoutMs: number;
}

/** A target that is requested from each origin. */
export interface BareTarget {
  readonly path: string;
  readonly intervalMs: number;
}

export interface BareResult {
  /** The time from the start until every origin has answered; `undefined` if one has not yet. */
  readonly completeMs?: number;
  /** The number of origins that have answered. */
  readonly up: number;
  readonly requests: number;
  readonly failures: number;
}

const options: BareOptions = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const startedMs = performance.now();
const answered = new Set<string>();
let completeMs: number | undefined;
let requests = 0;
let failures = 0;

async function request(client: Client, origin: string, path: string): Promise<void> {
  requests += 1;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), options.timeoutMs);
  try {
    const { body } = await client.request({ method: "GET", path, signal: stop.signal });
    await body.text();
    answered.add(origin);
    if (answered.size === options.origins.length) completeMs ??= performance.now() - startedMs;
  } catch {
    failures += 1;
  } finally {
    clearTimeout(timer);
  }
}

for (const [index, origin] of options.origins.entries()) {
  const client = new Client(origin, {
    connect: { ca: options.ca, servername: options.serverName },
    keepAliveTimeout: 600_000,
    keepAliveMaxTimeout: 600_000,
  });
  const share = index / options.origins.length;
  for (const [nth, { path, intervalMs }] of options.targets.entries()) {
    const send = () => void request(client, origin, path);
    const repeat = () => {
      send();
      setInterval(send, intervalMs);
    };
    setTimeout(send, share * 1000);
    // The second request follows at least half an interval after the first one, as in the exporter.
    setTimeout(repeat, share * 1000 + (0.5 + ((share + nth / options.targets.length) % 1)) * intervalMs);
  }
}

process.on("message", () => {
  const result: BareResult = {
    ...(completeMs !== undefined && { completeMs }),
    up: answered.size,
    requests,
    failures,
  };
  process.send?.(result);
});
