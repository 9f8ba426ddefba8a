import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listen } from "../appliance/support.ts";
import { copyExporter } from "../support/exporter-copy.ts";

/** A kind of appliance whose API answers with one word, its state. */
const STUB = `
import { decodeText } from "./text.ts";
import { structure } from "./anonymize.ts";
import { rejected } from "./json.ts";
import type { ApplianceKind } from "./kind.ts";

const NOTHING = { aliases: [], device: "", netmask: "", peer: "", configuredRole: undefined } as const;

export const STUB = {
  operations: {
    vrrp: {
      path: () => "/state",
      limitBytes: 64,
      decode: (body) => {
        const state = decodeText(body);
        if (state !== "MASTER" && state !== "BACKUP") return rejected("decode", "expected a state");
        const one = { name: "vip", vhid: 7, vip: "192.0.2.7", priority: 100, advskew: undefined, state, ...NOTHING };
        return { ok: true, value: { interfaces: [one], unreadable: [], anomalies: [] } };
      },
      anonymize: structure,
      statuses: {},
    },
  },
  port: 80,
} as const satisfies ApplianceKind;
`;

/** Loads a configuration of two such appliances, polls them, judges them, and prints the words about their group. */
const PROGRAM = `
import { systemClock } from "./src/support/clock.ts";
import { createClients } from "./src/exporter/client/client.ts";
import { loadConfig } from "./src/exporter/config/load.ts";
import { createFleet } from "./src/exporter/fleet/fleet.ts";
import { judge } from "./src/exporter/judge/judge.ts";
import { poll } from "./src/exporter/polling/poll.ts";

const loaded = await loadConfig("config.json");
if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
const { appliances } = loaded.config;
const options = { version: "1.2.3", maxLookups: 1, maxPasswordReads: 1 };
const createClient = createClients(options, systemClock);
const fleet = createFleet();
fleet.configure({ appliances }, 0);
for (const appliance of appliances) {
  const client = createClient(appliance);
  for (const operation of fleet.operations(appliance.name)) {
    const result = await poll(client, appliance.kind, operation, 5_000);
    const instants = { sentAtMs: 0, sinceMs: undefined, expiresAtMs: 60_000, completedAtMs: 0, durationSeconds: 0 };
    const end = { isOutOfTurn: false, certificate: undefined };
    fleet.record({ ...result, ...instants, ...end, appliance: appliance.name }, 0);
  }
  client.close();
}
const facts = fleet.cluster("pair", 0);
if (facts === undefined) throw new Error("the cluster is configured");
const verdict = judge(facts, undefined, { wallMs: 0, monotonicMs: 0 });
console.log(JSON.stringify(Array.from(verdict.groups.values(), ({ state, master }) => ({ state, master }))));
`;

test("a third kind of appliance is one file and one line of the table", async () => {
  const copy = await copyExporter(PROGRAM);
  const api = join(copy.folder, "src/exporter/api");
  const table = await readFile(join(api, "kinds.ts"), "utf8");
  const withStub = table.replace("  opnsense: OPNSENSE,\n", "$&  stub: STUB,\n");
  expect(withStub).not.toBe(table);
  await writeFile(join(api, "kinds.ts"), `import { STUB } from "./stub.ts";\n${withStub}`);
  await writeFile(join(api, "stub.ts"), STUB);
  await copy.compile();
  const members = ["MASTER", "BACKUP"].map(async (state, nth) => {
    const port = await listen(createServer((_, response) => response.end(state)));
    return { name: "ab"[nth], base_url: `http://127.0.0.1:${port}`, allow_http: true };
  });
  const config = { clusters: [{ name: "pair", kind: "stub", appliances: await Promise.all(members) }] };
  await writeFile(join(copy.folder, "config.json"), JSON.stringify(config));
  expect(JSON.parse(await copy.run())).toEqual([{ state: "one_master", master: "a" }]);
});
