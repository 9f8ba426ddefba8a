import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { formatErrors } from "../../../src/exporter/config/errors.ts";
import { startDemo, type Demo } from "../../../src/program/demo/demo.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createMemoryLog, scrape } from "../../support/exporter.ts";
import { BUILD } from "../../support/build-facts.ts";

/** An empty folder for the demo's temporary folder, removed at the end of the test. */
export async function useTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "demo-test-"));
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  return folder;
}

/** A demo that takes no step by itself; by default stopped at the end of the test. */
export async function startTestDemo(
  onFinished: (stop: () => Promise<void>) => void = onTestFinished,
): Promise<Demo> {
  const options = {
    listenAddresses: [{ host: "127.0.0.1", port: 0 }],
    version: "1.2.3",
    build: BUILD,
    maxLookups: 2,
    maxPasswordReads: 2,
    clock: systemClock,
    logger: createMemoryLog().logger,
    droppedLogLines: () => 0,
  };
  const started = await startDemo(options);
  if (!started.ok) throw new Error(formatErrors(started.errors).join("\n"));
  onFinished(() => started.demo.stop());
  return started.demo;
}

/** The samples of a family on `/metrics` as `label/label value`. */
export async function samplesOf(
  demo: Demo,
  family: string,
  ...labels: readonly string[]
): Promise<readonly string[]> {
  const samples = await scrape(`http://${demo.addresses[0]}`);
  return samples.all(family).map((sample) => {
    const values = labels.map((label) => sample.labels[label]);
    return `${values.join("/")} ${sample.value}`;
  });
}

/** Listens on a loopback port (0: a free one) until the end of the test; returns the port. */
export async function listen(port: number): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
