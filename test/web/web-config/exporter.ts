import { rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startExporter, type Exporter } from "../../../src/exporter.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createMemoryLog, type MemoryLog } from "../../support/exporter.ts";

/** A configuration without appliances. */
export const NOBODY = "appliances: [{ name: a, enabled: false, base_url: 'https://127.0.0.1:1' }]\n";

export interface ProtectedExporter {
  readonly exporter: Exporter;
  readonly port: number;
  readonly log: MemoryLog;
  write(name: string, text: string): Promise<void>;
  /** How many log lines have this message. */
  said(message: string): number;
}

/** Starts an exporter with the `config.yaml` and `web.yaml` of a folder. */
export async function startProtected(folder: string, watchIntervalMs = 600_000): Promise<ProtectedExporter> {
  const log = createMemoryLog();
  const started = await startExporter(
    {
      configFile: join(folder, "config.yaml"),
      webConfigFile: join(folder, "web.yaml"),
      listenAddresses: [{ host: "127.0.0.1", port: 0 }],
      enableLifecycle: false,
      telemetryPath: "/metrics",
      version: "0.0.0",
      nodeVersion: "v0.0.0",
      maxLookups: 2,
      maxPasswordReads: 2,
      watchIntervalMs,
    },
    { clock: systemClock, logger: log.logger, droppedLogLines: () => 0 },
  );
  if (!started.ok) throw new Error(JSON.stringify(started));
  const { exporter } = started;
  onTestFinished(() => exporter.stop());
  return {
    exporter,
    port: Number(exporter.addresses[0]?.split(":").at(-1)),
    log,
    write: (name, text) => writeFile(join(folder, name), text),
    said: (message) => log.lines.filter(({ msg }) => msg === message).length,
  };
}

/** Replaces a symbolic link atomically, as Kubernetes does. */
export async function swapLink(path: string, target: string): Promise<void> {
  await unlink(`${path}_tmp`).catch(() => undefined);
  await symlink(target, `${path}_tmp`);
  await rename(`${path}_tmp`, path);
}
