import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import type { VrrpConfig } from "../../../src/appliance/config.ts";
import type { VrrpSource } from "../../../src/appliance/routes.ts";
import type { KeepalivedOptions } from "../../../src/appliance/vrrp-keepalived.ts";
import { createVrrpSource } from "../../../src/appliance/vrrp-source.ts";
import type { Io } from "../../../src/cli/io.ts";
import { createLog } from "../../../src/support/log.ts";
import { createTestIo } from "../../support/io.ts";

/** A folder that exists until the end of the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "keepalived-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** The program's source for a configuration; the log goes to `logFd`. */
export async function sourceOf(vrrp: VrrpConfig, fields: Partial<Io> = {}): Promise<VrrpSource> {
  const { io } = await createTestIo(fields);
  return createVrrpSource(vrrp, io.sendSignal, createLog("info", "logfmt", io.logFd).logger);
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
