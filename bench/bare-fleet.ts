import { readFileSync } from "node:fs";
import { Client } from "undici";

/**
 * The HTTP library alone, at the pace of the exporter: the first request to each origin within a second, later ones at the
 * interval, with one timer each. Reads its options from the JSON file in the first argument; writes one line of JSON at
 * the end of standard input.
 */
export interface BareOptions {
  readonly origins: readonly string[];
  readonly ca: string;
  readonly serverName: string;
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

export interface BareResult {
  /** From the start until every origin has answered; `undefined` if one never did. */
  readonly completeMs: number | undefined;
  /** Origins that have answered. */
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

async function request(client: Client, origin: string): Promise<void> {
  requests += 1;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), options.timeoutMs);
  try {
    const { body } = await client.request({ method: "GET", path: options.path, signal: stop.signal });
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
  setTimeout(() => {
    void request(client, origin);
    // As in the exporter: at least half an interval after the first one.
    setTimeout(
      () => {
        void request(client, origin);
        setInterval(() => void request(client, origin), options.intervalMs);
      },
      (0.5 + share) * options.intervalMs,
    );
  }, share * 1000);
}

process.stdin.resume().once("end", () => {
  const result: BareResult = { completeMs, up: answered.size, requests, failures };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
});
