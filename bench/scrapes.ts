import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startExporter, sumOf, type FleetShape } from "./exporter.ts";
import { startNginxFleet } from "./nginx-fleet.ts";
import { startProcess, type MeasuredProcess } from "./process.ts";
import { median, sleep, until, type Measurement } from "./support.ts";

/** Hardly anything is polled during the measurement. The fleet has 8,000 sections: a list and nine websites of each appliance. */
const SHAPE: FleetShape = { appliances: 800, websites: 9, vrrp: "5m", website: "5m" };
const COMPLETE_MS = 450_000;
const SCRAPES = 20;
const ROUNDS = 3;
const PEER_PORT = 21_852;
const PEER_URL = `http://127.0.0.1:${PEER_PORT}/metrics`;
const ENCODINGS = ["identity", "gzip"] as const;

/** Measures the CPU time of the server for a scrape of 100,000 series in 8,000 sections. The peers serve the same text. */
export async function measureScrapes(): Promise<readonly Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-bench-"));
  try {
    const { text, own } = await measureOwn();
    await writeFile(join(folder, "metrics"), text);
    await writeFile(join(folder, "nginx.conf"), nginxConfig(folder));
    const script = fileURLToPath(new URL("prom-client-server.ts", import.meta.url));
    const costs = {
      "pushgateway (Go)": await measurePeer(
        () =>
          startProcess("prometheus-pushgateway", [
            `--web.listen-address=127.0.0.1:${PEER_PORT}`,
            // The gateway keeps its data in memory only; Debian's default is a file.
            "--persistence.file=",
            // Without this flag, the gateway reads all groups at each push.
            "--push.disable-consistency-check",
          ]),
        () => pushSections(text),
      ),
      "prom-client": await measurePeer(() =>
        startProcess(process.execPath, [
          "--import",
          "tsx",
          script,
          join(folder, "metrics"),
          String(PEER_PORT),
        ]),
      ),
      "nginx, a file": await measurePeer(() =>
        startProcess("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"]),
      ),
    };
    return Object.entries(costs).flatMap(([peer, cost]) =>
      ENCODINGS.map((encoding) => ({
        name: `CPU of a scrape of ${samplesIn(text)} series, ${encoding}`,
        measured: `${own[encoding].toFixed(0)} ms`,
        peer: `${peer}: ${cost[encoding].toFixed(1)} ms`,
        ratio: (own[encoding] / cost[encoding]).toFixed(2),
        goal: peer.startsWith("pushgateway") ? "at most 0.6" : "",
      })),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Costs = Readonly<Record<(typeof ENCODINGS)[number], number>>;

async function measureOwn(): Promise<{ readonly text: string; readonly own: Costs }> {
  const fleet = await startNginxFleet();
  const exporter = await startExporter(fleet, SHAPE);
  try {
    const text = await until(async () => {
      await sleep(2000);
      const scraped = await exporter.scrape();
      const isComplete = sumOf(scraped, "website_up") === SHAPE.appliances * SHAPE.websites;
      return isComplete ? scraped : undefined;
    }, COMPLETE_MS);
    return { text, own: await costsOf(exporter, `${exporter.url}/metrics`) };
  } finally {
    await exporter.stop();
    await fleet.stop();
  }
}

async function measurePeer(start: () => MeasuredProcess, fill = async () => {}): Promise<Costs> {
  const running = start();
  try {
    await until(
      () =>
        fetch(PEER_URL).then(
          ({ ok }) => ok || undefined,
          () => undefined,
        ),
      60_000,
    );
    await fill();
    return await costsOf(running, PEER_URL);
  } finally {
    await running.stop();
  }
}

async function costsOf(running: MeasuredProcess, url: string): Promise<Costs> {
  const [identity, gzip] = [await costOf(running, url, "identity"), await costOf(running, url, "gzip")];
  return { identity, gzip };
}

async function costOf(running: MeasuredProcess, url: string, encoding: string): Promise<number> {
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const beforeMs = running.cpuMs();
    for (let nth = 0; nth < SCRAPES; nth += 1) {
      const response = await fetch(url, { headers: { "accept-encoding": encoding } });
      await response.arrayBuffer();
    }
    costs.push((running.cpuMs() - beforeMs) / SCRAPES);
  }
  return median(costs);
}

function samplesIn(text: string): number {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
}

/**
 * Pushes a group for each section to the gateway: the samples of one appliance and website. The exporter's own metrics are left out, since
 * the gateway has metrics of the same names.
 */
async function pushSections(text: string): Promise<void> {
  const sections = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    if (!line.includes("ha_cluster=")) continue;
    const appliance = /[{,]appliance="([^"]*)"/.exec(line)?.[1] ?? "none";
    const website = /[{,]website_id="([^"]*)"/.exec(line)?.[1] ?? "none";
    const key = `${appliance}/website/${website}`;
    sections.set(key, [...(sections.get(key) ?? []), line]);
  }
  for (const [key, lines] of sections) {
    await fetch(`${PEER_URL}/job/bench/instance/${key}`, { method: "PUT", body: `${lines.join("\n")}\n` });
  }
}

function nginxConfig(folder: string): string {
  return `
daemon off;
pid ${folder}/nginx.pid;
master_process off;
events {}
http {
  access_log off;
  gzip on;
  gzip_types *;
  gzip_comp_level 1;
  default_type text/plain;
  server { listen 127.0.0.1:${PEER_PORT}; root ${folder}; }
}
`;
}
