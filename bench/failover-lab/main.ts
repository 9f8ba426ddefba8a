import pLimit from "p-limit";
import { formatTable } from "../../src/exporter/command/format.ts";
import { toolPath } from "../../test/support/tool.ts";
import { inLab, startExporter, type LabNetwork } from "./exporter.ts";
import { startServers } from "./node.ts";
import { play, type Lab, type Outcome } from "./play.ts";
import { SITUATIONS, type Situation } from "./situations.ts";

/**
 * `npm run lab:failover [-- WORD]` builds clusters of real keepalived, reads the exporter's prediction of what a failover would cost, lets
 * the master fail, and checks as a visitor what is lost. It exits with 1 where prediction and loss differ. WORD selects the situations that
 * have it in their name.
 */
const AT_ONCE = 6;
const [word = ""] = process.argv.slice(2);

toolPath("curl");
await inLab(SITUATIONS, "failover", async (network) => {
  const lab = await build(network);
  const limit = pLimit(AT_ONCE);
  const outcomes = await Promise.all(
    SITUATIONS.map((situation, nth) => ({ situation, nth }))
      .filter(({ situation }) => situation.name.includes(word))
      .map(({ situation, nth }) => limit(() => attempt(lab, situation, nth))),
  );
  const rows = outcomes.map(({ situation, state, predicted, lost, isEqual }) => [
    situation.name,
    state,
    predicted.join(", "),
    lost.join(", "),
    isEqual ? (situation.predicted ?? "yes") : "NO",
  ]);
  process.stdout.write(formatTable(["situation", "state", "predicted", "lost", "equal"], rows));
  process.exitCode = outcomes.every(({ isEqual }) => isEqual) ? 0 : 1;
});

async function attempt(lab: Lab, situation: Situation, nth: number): Promise<Outcome> {
  try {
    return await play(lab, situation, nth);
  } catch (cause) {
    throw new Error(`cannot be played: ${situation.name}`, { cause });
  }
}

async function build({ sandbox, folder, clusters }: LabNetwork): Promise<Lab> {
  const servers = await startServers(sandbox, folder);
  // Every operation is polled at the shortest interval.
  const timing = { interval: "1s", timeout: "900ms" };
  const polling = { vrrp: timing, websites: timing, discovery: timing };
  const { fleet } = await startExporter(sandbox, folder, { polling, website_discovery: true, clusters });
  return {
    sandbox,
    folder,
    predict: async (cluster) => {
      const found = (await fleet()).clusters.find(({ name }) => name === cluster);
      return Object.fromEntries(found?.appliances.map(({ name, failover }) => [name, failover]) ?? []);
    },
    turnAway: async (site, address) =>
      servers.find(({ name }) => name === site)?.setMaintenance(true, address),
  };
}
