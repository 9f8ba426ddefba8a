import { startExporter, type ExporterDeps, type ExporterOptions, type ExporterStart } from "../exporter.ts";
import { formatConfigError } from "../config/errors.ts";
import { Secret } from "../support/secret.ts";
import type { FleetDocument } from "../status/schema.ts";
import { startAppliances, type DemoAppliance } from "./appliances.ts";
import { createAuthority } from "./authority.ts";
import { createCleanup, type Cleanup } from "./cleanup.ts";
import { writeExporterConfig } from "./exporter-config.ts";
import { advance, BEGINNING, describeStep, script } from "./scenario.ts";
import { startWebsites, type DemoWebsite } from "./websites.ts";
import { createWorkspace } from "./workspace.ts";
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
  document(): FleetDocument;
  /** Takes the next step of the script; returns a sentence that describes it. */
  step(): Promise<string>;
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
  const story = createStory();
  const write = await createWorkspace(cleanup);
  const { ca, tls } = await createCertificates();
  const websites = await startWebsites(tls, cleanup);
  const appliances = await startAppliances(
    {
      ca,
      tls: { cert: tls.cert, key: new Secret(tls.key) },
      websites: websites.map(({ tested }) => tested),
      world: story.world,
      onBug: (error) =>
        deps.logger.error({ detail: describeBug(error) }, "appliance could not answer a request"),
    },
    cleanup,
  );
  const configFile = await writeExporterConfig(write, ca, appliances);
  const started = await startExporter(
    { ...options, configFile, telemetryPath: "/metrics", enableLifecycle: false },
    deps,
  );
  if (!started.ok && started.reason === "listen") return started;
  if (!started.ok) throw new Error(started.errors.map(formatConfigError).join("\n"));
  cleanup.add(() => started.exporter.stop());

  async function step(): Promise<string> {
    const sentence = story.next();
    const conditions = story.world().websites;
    await Promise.all(websites.map((website) => website.setCondition(conditions[website.name])));
    return sentence;
  }
  const { addresses, document } = started.exporter;
  const stop = () => cleanup.run();
  return { ok: true, demo: { appliances, websites, addresses, configFile, document, step, stop } };
}

/** Keeps the current world and applies the steps of the script. */
function createStory() {
  const steps = script();
  let world = BEGINNING;
  return {
    world: () => world,
    /** Takes the next step; returns a sentence that describes it. */
    next: () => {
      const step = steps.next().value;
      world = advance(world, step);
      return describeStep(step, world);
    },
  };
}

/** Creates an authority and one certificate for all servers of the demo. */
async function createCertificates() {
  const authority = await createAuthority();
  return { ca: authority.cert, tls: await authority.issue() };
}
