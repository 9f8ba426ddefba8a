import { decodeVrrpList } from "../src/api/vrrp.ts";
import { createFleet } from "../src/fleet/fleet.ts";
import { createFleetExposition } from "../src/metrics/exposition.ts";
import { createRedact } from "../src/polling/client/redact.ts";
import { createHistory } from "../src/status/history.ts";
import { logObservation } from "../src/observation-log.ts";
import { createLog } from "../src/log.ts";
import { openSync } from "node:fs";
import { applianceOf, configOf, websiteOf } from "../test/support/observations.ts";
import { WORST_LISTS } from "../test/support/worst-answers.ts";
const only = process.argv[2];
const ROUNDS = Number(process.env.ROUNDS ?? 6);
const cpu = () => {
  const u = process.cpuUsage();
  return (u.user + u.system) / 1000;
};
const logger = createLog("info", "json", openSync("/dev/null", "w")).logger;
const redact = createRedact(
  `Basic ${Buffer.from("monitor:correct horse").toString("base64")}`,
  "correct horse",
);
for (const [n, f] of Object.entries(WORST_LISTS)) {
  if (only && !n.includes(only)) continue;
  const names = Array.from({ length: 8 }, (_, i) => `fw${i}`);
  const fleet = createFleet();
  fleet.configure(configOf(...names.map((name) => applianceOf({ name, cluster: "c" }))), 0);
  const exposition = createFleetExposition();
  const history = createHistory();
  const sums: Record<string, number[]> = {};
  const at = (k: string, t: number) => {
    (sums[k] ??= []).push(cpu() - t);
  };
  for (let turn = 0; turn < ROUNDS; turn++)
    for (let who = 0; who < 8; who++) {
      const body = f(turn, who);
      let t = cpu();
      const t0 = t;
      const d = decodeVrrpList(body, redact);
      at("decode", t);
      t = cpu();
      const outcome = d.ok ? d : { ok: false as const, failure: d.problem };
      const o = {
        kind: "vrrp" as const,
        appliance: names[who]!,
        outcome,
        completedAtMs: Date.now(),
        durationSeconds: 0,
        expiresAtMs: 1e9,
        certificate: undefined,
      };
      const now = turn * 1000 + who;
      const { changes, sections } = fleet.record(o, now);
      at("record", t);
      t = cpu();
      for (const s of sections) {
        exposition.prepare(s);
      }
      at("prepare", t);
      t = cpu();
      history.record(changes, sections, { wallMs: o.completedAtMs, monotonicMs: now });
      at("history", t);
      t = cpu();
      logObservation(logger, o, changes);
      at("log", t);
      at("all", t0);
    }
  const med = (a: number[]) =>
    a
      .slice(8)
      .toSorted((x, y) => x - y)
      [Math.floor((a.length - 8) / 2)]!.toFixed(1);
  console.log(
    Object.entries(sums)
      .map(([k, a]) => `${k} ${med(a)}`)
      .join("  "),
    "|",
    n,
  );
}
