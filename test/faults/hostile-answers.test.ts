import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestExporter, type ExporterUnderTest } from "../support/exporter.ts";
import type { Samples } from "../support/samples.ts";
import { createWorld, type Endpoint } from "./endpoints.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";
import { HOSTILE_ANSWERS, type HostileAnswer } from "./hostile-answers.ts";

interface Row extends HostileAnswer {
  readonly appliance: string;
  endpoint: Endpoint | undefined;
}

/** One exporter polls the appliances of all rows. */
const rows: readonly Row[] = HOSTILE_ANSWERS.map((fault, index) => {
  return { ...fault, appliance: `row-${index}`, endpoint: undefined };
});
let exporter: ExporterUnderTest;
let samples: Samples;

beforeAll(async () => {
  const world = await createWorld();
  for (const row of rows) row.endpoint = await row.open(world);
  const appliances = rows.map(({ appliance, endpoint, websites = [] }) => {
    return { name: appliance, ...endpoint?.appliance, websites };
  });
  exporter = await startTestExporter({ config: { polling: { vrrp: RARELY, websites: RARELY }, appliances } });
  samples = await pollTimes(exporter, { appliances: rows.map(({ appliance }) => appliance), times: 3 });
});

afterAll(async () => {
  await exporter.stop();
  for (const { endpoint } of rows) await endpoint?.stop();
});

describe.each(rows.map((row) => [`fault ${row.fault}: ${row.name}`, row] as const))("%s", (_, row) => {
  const { appliance, families, lines } = row;

  it("gives exactly what is true of it", () => {
    const own = `appliance="${appliance}",ha_cluster="${appliance}",`;
    const found = families.flatMap((family) => samples.linesOf(appliance, family));
    expect(found.map((line) => line.replace(own, "").replace('website_id="1",website="1",', ""))).toEqual(
      lines,
    );
  });

  it("is no failure", () => {
    expect(samples.value("appliance_up", { appliance })).toBe(1);
    const failures = samples.all("appliance_poll_failures_total", { appliance });
    expect(failures.map(({ value }) => value).filter((value) => value > 0)).toEqual([]);
    expect(
      exporter.log.lines.filter((line) => line.appliance === appliance && line.msg === "polling fails"),
    ).toEqual([]);
  });
});

describe("fault 13", () => {
  it("costs a new connection each time", () => {
    const servers = rows.filter(({ fault }) => fault === 13).map(({ endpoint }) => endpoint?.server);
    expect(servers.map((server) => (server?.connections() ?? 0) >= 3)).toEqual([true, true]);
  });
});

describe("fault 18", () => {
  it("leaves the prototype of objects as it was", () => {
    expect(Object.keys(Object.getPrototypeOf({}))).toEqual([]);
    expect("polluted" in {}).toBe(false);
  });
});
