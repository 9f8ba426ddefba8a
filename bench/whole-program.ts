import { runExporter, startCannedAppliances, until, type Measurement } from "./support.ts";

const LISTEN_PORT = 21_849;

/** From the start of the process to the first /metrics with the VRRP lists of all 50 appliances. */
export async function measureStart(): Promise<Measurement> {
  const count = 50;
  const appliances = await startCannedAppliances();
  const exporter = await runExporter(appliances, { count, websites: 2, listenPort: LISTEN_PORT });
  const isComplete = (text: string): boolean => lines(text, /^appliance_up\{.* 1$/gm) === count;
  const readyMs = await until(
    async () => (isComplete(await exporter.scrape()) ? performance.now() : undefined),
    30_000,
  );
  await exporter.stop();
  appliances.stop();
  return {
    name: `start to first complete /metrics, ${count} appliances`,
    measured: `${((readyMs - exporter.startedAtMs) / 1000).toFixed(2)} s`,
    peer: "none",
    ratio: "",
    goal: "at most 3 s",
  };
}

/** Memory of the process after all 500 appliances of 10 websites were polled. */
export async function measureMemory(): Promise<Measurement> {
  const count = 500;
  const websites = 10;
  const appliances = await startCannedAppliances();
  const exporter = await runExporter(appliances, { count, websites, listenPort: LISTEN_PORT });
  const isComplete = (text: string): boolean =>
    lines(text, /^website_http_status\{.*protocol="https".* 200$/gm) === count * websites;
  const text = await until(async () => {
    const scraped = await exporter.scrape();
    return isComplete(scraped) ? scraped : undefined;
  }, 120_000);
  await exporter.stop();
  appliances.stop();
  return {
    name: `memory, ${count} appliances of ${websites} websites`,
    measured: `${megabytes(text, "process_resident_memory_bytes")} MB resident, ${megabytes(text, "nodejs_heap_size_used_bytes")} MB heap`,
    peer: "none",
    ratio: "",
    goal: "",
  };
}

function lines(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function megabytes(text: string, metric: string): string {
  const value = new RegExp(`^${metric} (\\S+)$`, "m").exec(text)?.[1];
  return (Number(value) / 1e6).toFixed(0);
}
