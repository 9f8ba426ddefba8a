import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  createKeepalivedSource,
  type KeepalivedOptions,
  type SendSignal,
} from "../../../src/appliance/keepalived.ts";
import type { VrrpSource } from "../../../src/appliance/server.ts";
import type { Logger } from "../../../src/support/log.ts";
import { createMemoryLog } from "../../support/exporter.ts";

/** A folder that exists until the end of the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "keepalived-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Sends the signal. */
export const kill: SendSignal = (pid, signal) => void process.kill(pid, signal);

/** The program's source for a keepalived. */
export function sourceOf(
  options: KeepalivedOptions,
  send = kill,
  logger: Pick<Logger, "info" | "warn"> = createMemoryLog().logger,
): VrrpSource {
  return createKeepalivedSource(options, send, logger);
}

/** The options for a keepalived whose files are in this folder. */
export function optionsIn(folder: string, fields: Partial<KeepalivedOptions> = {}): KeepalivedOptions {
  return {
    pidFile: join(folder, "vrrp.pid"),
    dumpFile: join(folder, "keepalived.json"),
    signal: 36,
    timeoutMs: 60_000,
    instances: new Map(),
    ...fields,
  };
}
