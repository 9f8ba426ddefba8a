import { readFilter } from "../src/web/status-page/view/filter.ts";
import { decodeVrrpList } from "../src/api/vrrp.ts";
import { createFleet } from "../src/fleet/fleet.ts";
import { createFleetExposition } from "../src/metrics/exposition.ts";
import { createStatusBoard } from "../src/status-board.ts";
import { systemClock } from "../src/polling/clock.ts";
import { statusPage } from "../src/web/status-page/page.ts";
import { applianceOf, configOf, websiteOf } from "../test/support/observations.ts";
import { WORST_LISTS } from "../test/support/worst-answers.ts";
import * as page from "../src/web/status-page/page.ts";
const only = process.argv[2];
const ROUNDS = Number(process.env.ROUNDS ?? 6);
const cpu = () => {
  const u = process.cpuUsage();
  return (u.user + u.system) / 1000;
};
for (const [n, f] of Object.entries(WORST_LISTS)) {
  if (only && !n.includes(only)) continue;
  const names = Array.from({ length: 8 }, (_, i) => `fw${i}`);
  const fleet = createFleet();
  fleet.configure(configOf(...names.map((name) => applianceOf({ name, cluster: "c" }))), 0);
  const exposition = createFleetExposition();
  const board = createStatusBoard({ version: "0", pollingMode: "scheduled", clock: systemClock });
  const T: Record<string, number> = {};
  let now = 0;
  for (let turn = 0; turn < ROUNDS; turn++)
    for (let who = 0; who < 8; who++) {
      const d = decodeVrrpList(f(turn, who), (x) => x);
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
      now = turn * 1000 + who;
      const { changes, sections } = fleet.record(o, now);
      for (const s of sections) {
        exposition.prepare(s);
      }
      board.history.record(changes, sections, { wallMs: o.completedAtMs, monotonicMs: now });
    }
  globalThis.gc?.();
  const mem = process.memoryUsage();
  let t = cpu();
  const text = exposition.render(fleet.snapshot(now));
  T.metrics = cpu() - t;
  t = cpu();
  const doc = board.document(fleet.snapshot(now), { nextPollMs: () => undefined });
  T.document = cpu() - t;
  t = cpu();
  const json = JSON.stringify(doc);
  T.json = cpu() - t;
  t = cpu();
  const buf = Buffer.from(json);
  T.buf = cpu() - t;
  t = cpu();
  globalThis.gc?.();
  const h0 = process.memoryUsage().heapUsed;
  t = cpu();
  const html = page.renderPage(doc, {
    nowMs: Date.now(),
    filter: readFilter(new URLSearchParams()),
    telemetryPath: "/metrics",
    assets: "a",
  }).text;
  T.html = cpu() - t;
  const htmlMB = html.length / 1e6;
  console.log(
    n,
    "|",
    Object.entries(T)
      .map(([k, a]) => `${k} ${a.toFixed(0)}`)
      .join("  "),
    "metricsMB",
    (text.length / 1e6).toFixed(1),
    "jsonMB",
    (buf.length / 1e6).toFixed(1),
    "htmlMB",
    htmlMB.toFixed(1),
    "problems",
    doc.problems.length,
    "heap",
    (mem.heapUsed / 1e6) | 0,
    "ext",
    (mem.external / 1e6) | 0,
  );
}
