import { Client } from "undici";
import type { ApplianceConfig } from "../src/config/config.ts";
import { createFleet } from "../src/fleet/fleet.ts";
import { createFleetExposition } from "../src/metrics/exposition.ts";
import { createClients } from "../src/client/clients.ts";
import { systemClock } from "../src/support/clock.ts";
import { poll } from "../src/polling/poll.ts";
import { createJudge } from "../src/status/judge.ts";
import { applianceOf, configOf } from "../test/support/observations.ts";
import { median, startCannedAppliances, type Measurement } from "./support.ts";

const POLLS = 2000;
const ROUNDS = 5;

/** CPU time of one VRRP poll, from request to exposition text, compared with a bare request of the HTTP library. */
export async function measurePollCost(): Promise<Measurement> {
  const appliances = await startCannedAppliances();
  const plain = applianceOf({ name: "fw0", baseUrl: `https://127.0.0.1:${appliances.port}` });
  const appliance = { ...plain, http: { ...plain.http, tls: { ...plain.http.tls, ca: appliances.ca } } };
  const ours = createPoll(appliance);
  const bare = new Client(appliance.baseUrl, { connect: { ca: appliances.ca } });
  const request = async (): Promise<void> => {
    const { body } = await bare.request({ method: "GET", path: "/api/v1/interface/virtual" });
    await body.text();
  };

  const oursMs: number[] = [];
  const bareMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    oursMs.push(await cpuMsOf(ours.poll));
    bareMs.push(await cpuMsOf(request));
  }
  ours.close();
  await bare.destroy();
  appliances.stop();
  const [own, peer] = [median(oursMs), median(bareMs)];
  return {
    name: "CPU of a poll over kept-alive TLS",
    measured: `${own.toFixed(3)} ms`,
    peer: `bare undici request: ${peer.toFixed(3)} ms`,
    ratio: (own / peer).toFixed(2),
    goal: "at most 0.4 ms",
  };
}

async function cpuMsOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let nth = 0; nth < POLLS; nth += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / POLLS;
}

function createPoll(appliance: ApplianceConfig): { poll(): Promise<void>; close(): void } {
  const clock = systemClock;
  const createClient = createClients({ version: "bench", maxLookups: 1, maxPasswordReads: 1 }, clock);
  const client = createClient(appliance);
  const fleet = createFleet();
  const exposition = createFleetExposition();
  const judge = createJudge();
  fleet.configure(configOf(appliance), clock.monotonicMs());
  return {
    poll: async () => {
      const result = await poll(client, { kind: "vrrp" }, appliance.polling.vrrp.timeoutMs);
      if (!result.outcome.ok) throw new Error(result.outcome.failure.message);
      const dated = {
        completedAtMs: clock.wallMs(),
        sentAtMs: clock.monotonicMs(),
        durationSeconds: 0,
        expiresAtMs: clock.monotonicMs() + 10_000,
      };
      const observation = {
        ...result,
        ...dated,
        appliance: appliance.name,
        certificate: client.certificate(),
      };
      const { cluster } = fleet.record(observation, clock.monotonicMs());
      const at = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
      if (cluster !== undefined) exposition.prepare(judge.judge(cluster, at).now);
    },
    close: () => client.close(),
  };
}
