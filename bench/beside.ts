import { formatTable } from "../src/cli/format.ts";
import { LISTEN_PORT } from "./exporter.ts";
import { startNginxFleet } from "./nginx-fleet.ts";
import { measureExporter } from "./polling.ts";

/**
 * `npm run bench:beside -- FOLDER...` prints the row `poll` of this revision and of others, which are built in these folders. All revisions
 * poll at the same time, so that the load of the machine is the same for each.
 */
const folders = process.argv.slice(2);
if (folders.length === 0) {
  process.stderr.write("usage: npm run bench:beside -- FOLDER...\n");
  process.exit(2);
}
const fleet = await startNginxFleet();
try {
  const rows = await Promise.all(
    [".", ...folders].map(async (checkout, nth) => {
      const measured = await measureExporter(fleet, { checkout, port: LISTEN_PORT + nth });
      const { pollMs, failures, residentMib } = measured;
      return [checkout, `${pollMs.toFixed(3)} ms`, `${residentMib.toFixed(0)} MiB`, String(failures)];
    }),
  );
  process.stdout.write(formatTable(["revision in", "CPU of a poll", "memory", "failed polls"], rows));
} finally {
  await fleet.stop();
}
