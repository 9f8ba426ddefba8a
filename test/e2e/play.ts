import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Case } from "./cases/case.ts";
import type { ExporterName } from "./lab/fleet.ts";
import { startLab, type Lab } from "./lab/lab.ts";
import { newsOf, type Notice } from "./lab/notifications.ts";
import { formatTable } from "./report.ts";
import { createScene, type Scene } from "./scene.ts";

const MINUTE_MS = 60_000;

/**
 * On a busy machine an exporter that polls every second is late, and says so. That is true, and says nothing of what the cases are about.
 */
const IS_BUSY = "AppliancePollsLate";

const isBeat = ({ labels }: Notice) => labels["alertname"] === "ApplianceExporterWatchdog";

/** Plays all cases at once in a lab with these exporters: each is notified as it expects, and nothing else is. */
export function playCases(cases: readonly Case[], exporters: readonly ExporterName[]): void {
  let lab: Lab;
  const scenes = new Map<string, Scene>();
  const inOrder = () => cases.flatMap(({ name }) => scenes.get(name) ?? []);

  beforeAll(async () => {
    lab = await startLab(exporters);
  }, 3 * MINUTE_MS);

  afterAll(async () => {
    const notifications = (await lab?.monitoring[0]?.notifications()) ?? [];
    await lab?.close();
    const rows = cases.flatMap(({ name, owns }) => {
      const own = notifications.filter((notices) => notices.every(({ labels }) => owns(labels)));
      return scenes.get(name)?.rows(own) ?? [];
    });
    if (rows.length > 0) process.stdout.write(`\n${formatTable(rows)}\n`);
  });

  test.concurrent.for(cases.map((each) => [each.name, each] as const))(
    "%s",
    { timeout: 20 * MINUTE_MS },
    async ([name, { play, owns }]) => {
      const scene = createScene(lab);
      scenes.set(name, scene);
      await play(scene, lab);
      for (const { version, notifications } of lab.monitoring) {
        const news = newsOf(await notifications(), owns);
        expect([version, ...namesOf(news)]).toEqual([version, ...scene.expected().toSorted()]);
      }
    },
  );

  test("nothing else was reported, and nothing twice", { timeout: 2 * MINUTE_MS }, async () => {
    const expected = inOrder().flatMap((scene) => scene.expected());
    for (const { version, query, notifications } of lab.monitoring) {
      const pending = `ALERTS{alertstate="pending",alertname!="${IS_BUSY}"}`;
      await eventually(async () => expect(await query(pending)).toEqual([]), {
        timeoutMs: MINUTE_MS,
        everyMs: 1_000,
      });
      const isOfCases = ({ labels }: Notice): boolean => labels["alertname"] !== IS_BUSY;
      const every = await notifications();
      const all = every.map((notices) => notices.filter(isOfCases)).filter(({ length }) => length > 0);
      const beats = all.flat().filter(isBeat);
      expect(beats.length).toBeGreaterThan(2);
      expect(beats.filter(({ status }) => status !== "firing")).toEqual([]);
      const others = all.filter((notices) => !notices.some(isBeat));
      expect([version, ...namesOf(newsOf(others, () => true))]).toEqual([version, ...expected.toSorted()]);
      expect(others.filter((notices) => notices.every(({ isNews }) => !isNews))).toEqual([]);
    }
  });
}

function namesOf(news: readonly Notice[]): readonly string[] {
  return news.map(({ status, alert }) => `${status} ${alert}`).toSorted();
}
