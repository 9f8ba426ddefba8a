import { readFileSync } from "node:fs";
import { Client } from "undici";

/**
 * The HTTP library alone, at the pace of the exporter: each origin's first request within the first second, the next ones
 * at the interval, a timer for each. Takes its orders as JSON in the first argument; writes one line of JSON when it is told
 * to end by its standard input.
 */
export interface BareOrders {
  readonly origins: readonly string[];
  readonly ca: string;
  readonly serverName: string;
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

export interface BareResult {
  /** From the start until every origin has answered; `undefined` where one never did. */
  readonly completeMs: number | undefined;
  /** Origins that have answered. */
  readonly up: number;
  readonly requests: number;
  readonly failures: number;
}

const orders: BareOrders = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const startedMs = performance.now();
const answered = new Set<string>();
let completeMs: number | undefined;
let requests = 0;
let failures = 0;

async function request(client: Client, origin: string): Promise<void> {
  requests += 1;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), orders.timeoutMs);
  try {
    const { body } = await client.request({ method: "GET", path: orders.path, signal: stop.signal });
    await body.text();
    answered.add(origin);
    if (answered.size === orders.origins.length) completeMs ??= performance.now() - startedMs;
  } catch {
    failures += 1;
  } finally {
    clearTimeout(timer);
  }
}

for (const [index, origin] of orders.origins.entries()) {
  const client = new Client(origin, {
    connect: { ca: orders.ca, servername: orders.serverName },
    keepAliveTimeout: 600_000,
    keepAliveMaxTimeout: 600_000,
  });
  const share = index / orders.origins.length;
  setTimeout(() => {
    void request(client, origin);
    // On the exporter's grid: no sooner than half an interval after the first one.
    setTimeout(
      () => {
        void request(client, origin);
        setInterval(() => void request(client, origin), orders.intervalMs);
      },
      (0.5 + share) * orders.intervalMs,
    );
  }, share * 1000);
}

process.stdin.resume().once("end", () => {
  const result: BareResult = { completeMs, up: answered.size, requests, failures };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
});
