import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Samples } from "../support/samples.ts";
import type { Program } from "./program.ts";
import { entry, EVERY_SECOND, test, type Stage } from "./stage.ts";
import { endChild } from "../support/child.ts";

// The exporter takes all of a processor, for minutes on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

const APPLIANCES = fileURLToPath(new URL("hostile-appliances.ts", import.meta.url));
const HOSTILE = ["0", "1", "2", "3", "4", "5", "6", "7"];
const HEALTHY = ["healthy-0", "healthy-1"];
const HEAP_MB = 160;
/** The eight kinds of body that cost most were answered then, each twice. */
const POLLS = 16;

async function startHostileAppliances(stage: Stage): Promise<number> {
  const child = fork(APPLIANCES, { execArgv: ["--import", import.meta.resolve("tsx")] });
  stage.cleanUp(() => endChild(child));
  const [port]: number[] = await once(child, "message");
  return port ?? 0;
}

function polls(samples: Samples, appliance: string): number {
  return samples.value("appliance_polls_total", { appliance, operation: "vrrp" }) ?? 0;
}

async function expectPages({ url }: Pick<Program, "url">): Promise<void> {
  for (const path of ["/", "/api/v1/fleet"]) {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(60_000) });
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeGreaterThan(1000);
  }
}

test.concurrent("fault 44: eight appliances that send the worst answers each second: with 160 MB the exporter lives, polls the others, and shows its pages", async ({
  stage,
}) => {
  const server = { port: await startHostileAppliances(stage) };
  const at = (name: string, more: object = {}) => {
    const { base_url, ...rest } = entry(name, server, { ...more });
    return { base_url: `${base_url}/${name}`, ...rest };
  };
  const config = {
    polling: { vrrp: EVERY_SECOND, websites: EVERY_SECOND },
    clusters: [{ name: "hostile", websites: [1], appliances: HOSTILE.map((name) => at(name)) }],
    appliances: HEALTHY.map((name) => at(name)),
  };
  const program = await stage.program(
    { config },
    { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } },
  );
  const samples = await eventually(
    async () => {
      expect(program.child.exitCode ?? program.child.signalCode).toBeNull();
      await expectPages(program);
      const scraped = await program.scrape();
      expect(Math.min(...HOSTILE.map((name) => polls(scraped, name)))).toBeGreaterThanOrEqual(POLLS);
      return scraped;
    },
    // Pages of so many groups cost the exporter about as much as a poll.
    { timeoutMs: 450_000, everyMs: 5000 },
  );
  const most = Math.max(...HOSTILE.map((name) => polls(samples, name)));
  // A machine that is busy with other work skips some, of whichever appliance.
  for (const name of HEALTHY) expect(polls(samples, name)).toBeGreaterThanOrEqual(most / 2);
  await eventually(async () => {
    const scraped = await program.scrape();
    for (const appliance of HEALTHY) expect(scraped.value("appliance_up", { appliance })).toBe(1);
  });
});
