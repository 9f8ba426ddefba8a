import { createServer } from "node:http";
import type { TestContext } from "vitest";
import { startTestExporter, type ExporterUnderTest } from "../../support/exporter.ts";
import { portOf } from "../../support/fault-server.ts";

export interface SimulatedAnswer {
  readonly status: number;
  readonly body: string;
}

/** An appliance that answers what a test wants, over plain HTTP. */
export interface SimulatedAppliance {
  readonly port: number;
  /** Method and path of every request. */
  readonly requests: readonly string[];
  /** Bodies by id; `undefined`: as if the website did not exist. */
  readonly details: Map<number, unknown>;
  /** In place of the list of these websites. */
  list: SimulatedAnswer | undefined;
  state: string;
  vip: string;
  /** The status code of every website. */
  status: number;
}

/** What is started ends with its test, also beside others that run at the same time. */
type Running = Pick<TestContext, "onTestFinished">;

export async function startSimulated(
  { onTestFinished }: Running,
  details: Readonly<Record<number, unknown>> = {},
): Promise<SimulatedAppliance> {
  const requests: string[] = [];
  const known = new Map(Object.entries(details).map(([id, body]) => [Number(id), body]));
  const server = createServer(({ method, url = "" }, response) => {
    requests.push(`${method} ${url}`);
    const { status, body } = answerTo(url);
    response.writeHead(status).end(body);
  });
  const answerTo = (path: string): SimulatedAnswer => {
    if (path === "/api/v1/interface/virtual")
      return ok({
        carp0: {
          vhid: "2",
          vip: simulated.vip,
          state_current: simulated.state,
          priority: "204",
          advskew: "50",
        },
      });
    if (path === "/api/v1/website") return simulated.list ?? ok([...known.keys()].map(String));
    const [, id, isTest] = /^\/api\/v1\/website\/(\d+)(\/test)?$/.exec(path) ?? [];
    const body = known.get(Number(id));
    if (body === undefined) return { status: 404, body: "{}" };
    if (isTest !== undefined) return ok(`HTTP CONNECT ----- HTTP\nHTTP/1.1 ${simulated.status} X\n\n`);
    return typeof body === "string" ? { status: 200, body } : ok(body);
  };
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const simulated: SimulatedAppliance = {
    port: portOf(server),
    requests,
    details: known,
    list: undefined,
    state: "MASTER",
    vip: "192.0.2.100",
    status: 200,
  };
  return simulated;
}

function ok(value: unknown): SimulatedAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

/** The details of a website, enabled, protected, and with one server that is OK. */
export function detailsOf(name: string, given: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    bind: ["*"],
    mode: "1",
    name,
    rhost: [["http", "192.0.2.81", "8080", "1", "1", "443"]],
    status: "1",
    vhost: { name: `${name}.example`, port: "80", port2: "", proto: "http" },
    ...given,
  };
}

const FAST = { interval: "1s", timeout: "1s" };

/** An exporter of these appliances, one cluster with these settings, with discovery; everything is polled each second. */
export async function startDiscovering(
  { onTestFinished }: Running,
  appliances: Readonly<Record<string, SimulatedAppliance>>,
  settings: Readonly<Record<string, unknown>> = {},
  fleet: Readonly<Record<string, unknown>> = {},
): Promise<ExporterUnderTest> {
  const exporter = await startTestExporter({
    config: {
      polling: { vrrp: FAST, websites: FAST, discovery: FAST },
      website_discovery: true,
      ...fleet,
      clusters: [
        {
          name: "ams",
          ...settings,
          appliances: Object.entries(appliances).map(([name, { port }]) => {
            return { name, base_url: `http://127.0.0.1:${port}`, allow_http: true };
          }),
        },
      ],
    },
  });
  onTestFinished(exporter.stop);
  return exporter;
}
