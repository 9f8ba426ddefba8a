import { WHOLE_FLEET } from "../../src/config/shard.ts";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { createFleet } from "../../src/fleet/fleet.ts";
import { createFleetExposition } from "../../src/metrics/exposition.ts";
import { createSelfMetrics } from "../../src/metrics/self.ts";
import { fleetJson } from "../../src/status/document.ts";
import { createStatusBoard } from "../../src/status/board.ts";
import { createObserver } from "../../src/status/observer.ts";
import { createClients, type CreateClient } from "../../src/client/clients.ts";
import { createLookup, type ResolveAll } from "../../src/client/lookup.ts";
import { systemClock, type Clock } from "../../src/support/clock.ts";
import { startRunner } from "../../src/polling/runner.ts";
import { startWebServer } from "../../src/web/server.ts";
import { routes } from "../web/support.ts";
import { createMemoryLog, type MemoryLog } from "../support/exporter.ts";
import { BUILD } from "../support/build-facts.ts";

export interface RigOptions {
  /** Holds `config.yaml`. */
  readonly folder: string;
  readonly resolveAll?: ResolveAll;
  readonly clock?: Clock;
  /** Stands between polling and the real clients. */
  readonly wrap?: (createClient: CreateClient) => CreateClient;
}

export interface Rig {
  readonly url: string;
  readonly log: MemoryLog;
  stop(): Promise<void>;
}

/** The exporter's own parts, wired as it wires them, save for what a fault must get between. */
export async function startRig(options: RigOptions): Promise<Rig> {
  const { folder, resolveAll, clock = systemClock, wrap = (same) => same } = options;
  const loaded = await loadConfig(join(folder, "config.yaml"));
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const log = createMemoryLog();
  const fleet = createFleet();
  const exposition = createFleetExposition();
  const self = createSelfMetrics({ version: "0.0.0", build: BUILD, shard: WHOLE_FLEET }, () => 0);
  const board = createStatusBoard({ version: "0.0.0", shard: WHOLE_FLEET, fleet, clock });
  const events = createObserver({
    fleet,
    self,
    board,
    logger: log.logger,
    clock,
    replan: (appliance) => runner.replan(appliance),
    confirm: (polls) => runner.confirm(polls),
  });
  const runner = startRunner({
    clock,
    events,
    planOf: ({ name }) => fleet.plan(name),
    onClockJump: () => {},
  });
  const web = await startWebServer(
    [{ host: "127.0.0.1", port: 0 }],
    routes({
      renderMetrics: async () => exposition.render(await self.render(), await board.verdicts()),
      renderFleet: async () => fleetJson(await board.document(runner)),
      onError: (_, error) => log.logger.error({ detail: String(error) }, "page could not be rendered"),
    }),
  );
  if (!web.ok) throw new Error(web.code);
  const lookup = createLookup(2, resolveAll);
  const createClient = createClients({ version: "rig", maxLookups: 2, maxPasswordReads: 1, lookup }, clock);
  fleet.configure(loaded.config, clock.monotonicMs());
  await runner.prepare(loaded.config, wrap(createClient))();
  return {
    url: `http://${web.server.addresses[0]}`,
    log,
    stop: async () => {
      runner.stop();
      await web.server.stop();
    },
  };
}
