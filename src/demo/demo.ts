import { startExporter, type ExporterDeps, type ExporterOptions, type ExporterStart } from "../exporter.ts";
import { formatErrors } from "../config/errors.ts";
import { Secret } from "../support/secret.ts";
import type { FleetDocument } from "../status/schema.ts";
import { startAppliances, type DemoAppliance } from "./appliances.ts";
import { createAuthority } from "./authority.ts";
import { createCleanup, type Cleanup } from "./cleanup.ts";
import { writeExporterConfig } from "./exporter-config.ts";
import { BEGINNING, SCRIPT, type Step } from "./scenario.ts";
import { startWebsites, type DemoWebsite } from "./websites.ts";
import { describeBug } from "../support/errors.ts";

export type DemoOptions = Omit<ExporterOptions, "configFile" | "telemetryPath" | "enableLifecycle">;

/** Two appliances, three websites and the exporter that polls them, all on real sockets. */
export interface Demo {
  readonly appliances: readonly DemoAppliance[];
  readonly websites: readonly DemoWebsite[];
  /** The exporter's addresses, `host:port`. */
  readonly addresses: readonly string[];
  /** The exporter's configuration, in a temporary folder. */
  readonly configFile: string;
  /** The fleet as the exporter sees it. */
  document(): Promise<FleetDocument>;
  /** Takes the next step of the script; returns a sentence that describes it. */
  step(): string;
  /** Stops everything and removes the folder, within seconds. */
  stop(): Promise<void>;
}

export type DemoStart =
  | { readonly ok: true; readonly demo: Demo }
  | Extract<ExporterStart, { readonly reason: "listen" }>;

/** Starts everything, or stops what was started if something fails. */
export async function startDemo(options: DemoOptions, deps: ExporterDeps): Promise<DemoStart> {
  const cleanup = createCleanup();
  try {
    const started = await startParts(options, deps, cleanup);
    if (!started.ok) await cleanup.run();
    return started;
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function startParts(options: DemoOptions, deps: ExporterDeps, cleanup: Cleanup): Promise<DemoStart> {
  let world = BEGINNING;
  const authority = await createAuthority();
  const tls = await authority.issue();
  const websites = await startWebsites(tls, (name) => world.websites[name], cleanup);
  const appliances = await startAppliances(
    {
      ca: authority.cert,
      tls: { cert: tls.cert, key: new Secret(tls.key) },
      websites: websites.map(({ tested }) => tested),
      world: () => world,
      onBug: (error) =>
        deps.logger.error({ detail: describeBug(error) }, "appliance could not answer a request"),
    },
    cleanup,
  );
  const configFile = await writeExporterConfig(authority.cert, appliances, cleanup);
  const started = await startExporter(
    { ...options, configFile, telemetryPath: "/metrics", enableLifecycle: false },
    deps,
  );
  if (!started.ok && started.reason === "listen") return started;
  if (!started.ok) throw new Error(formatErrors(started.errors).join("\n"));
  cleanup.add(() => started.exporter.stop());

  const steps = playForever();
  function step(): string {
    const { sentence, apply } = steps.next().value;
    world = apply(world);
    return sentence;
  }
  const { addresses, document } = started.exporter;
  const stop = () => cleanup.run();
  return { ok: true, demo: { appliances, websites, addresses, configFile, document, step, stop } };
}

function* playForever(): Generator<Step, never> {
  for (;;) yield* SCRIPT;
}
