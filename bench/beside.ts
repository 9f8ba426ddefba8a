import { parseArgs } from "node:util";
import { formatTable } from "../src/exporter/command/format.ts";
import { LISTEN_PORT } from "./exporter.ts";
import { startNginxFleet } from "./nginx-fleet.ts";
import { measureExporter } from "./polling.ts";
import { PAUSE_GAUGE } from "./process.ts";

/**
 * `npm run bench:beside -- [--minutes=N] [--appliances=N] FOLDER...` prints what polling costs this revision and others, which are built in these folders. All
 * revisions poll at the same time, so that the load of the machine is the same for each.
 */
const WINDOWS_OF_A_MINUTE = 3;
const { values, positionals: folders } = parseArgs({
  options: { minutes: { type: "string", default: "1" }, appliances: { type: "string", default: "600" } },
  allowPositionals: true,
});
const [minutes, appliances] = [Number(values.minutes), Number(values.appliances)];
if (folders.length === 0 || !(minutes > 0) || !(appliances > 0)) {
  process.stderr.write("usage: npm run bench:beside -- [--minutes=N] [--appliances=N] FOLDER...\n");
  process.exit(2);
}
const fleet = await startNginxFleet();
try {
  const rows = await Promise.all(
    [".", ...folders].map(async (checkout, nth) => {
      const { pollMs, failures, residentMib, lateness, gauge } = await measureExporter(fleet, {
        checkout,
        appliances,
        port: LISTEN_PORT + nth,
        preload: PAUSE_GAUGE,
        windows: Math.ceil(minutes * WINDOWS_OF_A_MINUTE),
      });
      return [
        checkout,
        `${pollMs.toFixed(3)} ms`,
        `${residentMib.toFixed(0)} MiB`,
        `${gauge?.longestMs.toFixed(0)} ms, collection ${gauge?.collectionMs.toFixed(0)} ms, without a processor ${gauge?.starvedMs.toFixed(0)} ms`,
        String(failures),
        lateness,
      ];
    }),
  );
  const head = ["revision in", "CPU of a poll", "memory", "longest pause", "failed polls", "lists begun"];
  process.stdout.write(formatTable(head, rows));
} finally {
  await fleet.stop();
}
