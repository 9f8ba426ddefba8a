import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { APPLIANCE_CASES } from "./cases/appliances.ts";
import { EXPORTER_CASES } from "./cases/exporters.ts";
import { VRRP_CASES } from "./cases/vrrp.ts";
import { WEBSITE_CASES } from "./cases/websites.ts";
import { startLab, type Lab } from "./lab/lab.ts";
import { newsOf, readNotifications } from "./lab/notifications.ts";
import { formatTable } from "./report.ts";
import { createScene, type Scene } from "./scene.ts";

const MINUTE_MS = 60_000;
/** In the order of the report. */
const CASES = [...VRRP_CASES, ...WEBSITE_CASES, ...APPLIANCE_CASES, ...EXPORTER_CASES];

describe("from the event to the webhook", () => {
  let lab: Lab;
  const scenes = new Map<string, Scene>();
  const inOrder = () => CASES.flatMap(({ name }) => scenes.get(name) ?? []);

  beforeAll(async () => {
    lab = await startLab();
  }, 3 * MINUTE_MS);

  afterAll(async () => {
    const notifications = readNotifications((await lab?.notifications()) ?? "");
    await lab?.close();
    const rows = CASES.flatMap(({ name, owns }) => {
      const own = notifications.filter((notices) => notices.every(({ labels }) => owns(labels)));
      return scenes.get(name)?.rows(own) ?? [];
    });
    if (rows.length > 0) process.stdout.write(`\n${formatTable(rows)}\n`);
  });

  test.concurrent.for(CASES.map((each) => [each.name, each] as const))(
    "%s",
    { timeout: 20 * MINUTE_MS },
    async ([name, { play, owns }]) => {
      const scene = createScene(lab);
      scenes.set(name, scene);
      await play(scene, lab);
      const news = newsOf(readNotifications(await lab.notifications()), owns);
      expect(news.map(({ status, alert }) => `${status} ${alert}`).toSorted()).toEqual(
        scene.expected().toSorted(),
      );
    },
  );

  test("nothing else was reported, and nothing twice", { timeout: 2 * MINUTE_MS }, async () => {
    await eventually(async () => expect(await lab.query('ALERTS{alertstate="pending"}')).toEqual([]), {
      timeoutMs: MINUTE_MS,
      everyMs: 1_000,
    });
    const notifications = readNotifications(await lab.notifications());
    const news = newsOf(notifications, () => true).map(({ status, alert }) => `${status} ${alert}`);
    const expected = inOrder().flatMap((scene) => scene.expected());
    expect(news.toSorted()).toEqual(expected.toSorted());
    expect(notifications.filter((notices) => notices.every(({ isNews }) => !isNews))).toEqual([]);
  });
});
