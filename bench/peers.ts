import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "undici";
import type { BareOptions, BareResult } from "./bare-fleet.ts";
import { SERVER_NAME, type NginxFleet } from "./nginx-fleet.ts";
import { startProcess, type MeasuredProcess } from "./process.ts";
import { until } from "./support.ts";

/** The targets that are requested from every appliance of a fleet. */
export type Targets = Pick<BareOptions, "targets" | "timeoutMs"> & { readonly appliances: number };

export interface BareFleet extends MeasuredProcess {
  result(): Promise<BareResult>;
}

/** Starts the HTTP library alone, in a process of its own. */
export async function startBareFleet(
  fleet: NginxFleet,
  { appliances, ...pace }: Targets,
): Promise<BareFleet> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-bench-"));
  const options: BareOptions = {
    origins: Array.from({ length: appliances }, (_, index) => fleet.origin(index)),
    ca: fleet.ca,
    serverName: SERVER_NAME,
    ...pace,
  };
  await writeFile(join(folder, "options.json"), JSON.stringify(options));
  const script = fileURLToPath(new URL("bare-fleet.ts", import.meta.url));
  const running = startProcess(process.execPath, ["--import", "tsx", script, `${folder}/options.json`]);
  return {
    ...running,
    result: async () => {
      running.child.send("result");
      const [result]: BareResult[] = await once(running.child, "message");
      if (result === undefined) throw new Error("no result");
      return result;
    },
    stop: async () => {
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const BLACKBOX_PORT = 21_852;

export interface Blackbox extends MeasuredProcess {
  probes(): number;
}

/** Starts Debian's blackbox_exporter, which probes the same targets at the same pace. Each probe makes a connection of its own. */
export async function startBlackbox(fleet: NginxFleet, { appliances, targets }: Targets): Promise<Blackbox> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-bench-"));
  const tls = { ca_file: join(folder, "ca.pem"), server_name: SERVER_NAME };
  const module = { prober: "http", timeout: "4s", http: { preferred_ip_protocol: "ip4", tls_config: tls } };
  await writeFile(tls.ca_file, fleet.ca);
  await writeFile(join(folder, "blackbox.yml"), JSON.stringify({ modules: { http: module } }));
  const address = `127.0.0.1:${BLACKBOX_PORT}`;
  const running = startProcess("prometheus-blackbox-exporter", [
    `--config.file=${folder}/blackbox.yml`,
    `--web.listen-address=${address}`,
    "--log.level=error",
  ]);
  const agent = new Agent({ connections: 16 });
  const probe = (target: string): Promise<boolean> =>
    agent
      .request({ origin: `http://${address}`, method: "GET", path: `/probe?module=http&target=${target}` })
      .then(
        async ({ body }) => (await body.text()).includes("\nprobe_success 1\n"),
        () => false,
      );
  await until(
    async () => ((await probe(fleet.origin(0) + (targets[0]?.path ?? ""))) ? true : undefined),
    10_000,
  );
  let probes = 0;
  const perMs = targets.reduce((sum, { intervalMs }) => sum + appliances / intervalMs, 0);
  const pace = setInterval(() => {
    const target = fleet.origin(probes % appliances) + (targets[probes % targets.length]?.path ?? "");
    void probe(target).then((isUp) => (probes += isUp ? 1 : 0));
  }, 1 / perMs);
  return {
    ...running,
    probes: () => probes,
    stop: async () => {
      clearInterval(pace);
      await agent.destroy();
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}
