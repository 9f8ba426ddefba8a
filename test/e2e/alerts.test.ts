import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { APPLIANCE_CASES } from "./cases/appliances.ts";
import { EXPORTER_CASES } from "./cases/exporters.ts";
import { VRRP_CASES } from "./cases/vrrp.ts";
import { WEBSITE_CASES } from "./cases/websites.ts";
import { startLab, type Lab } from "./lab/lab.ts";
import { newsOf, readNotifications } from "./lab/notifications.ts";
import { formatTable, type Row } from "./report.ts";
import { createScene } from "./scene.ts";

const CASES = [...VRRP_CASES, ...WEBSITE_CASES, ...APPLIANCE_CASES, ...EXPORTER_CASES];

const MINUTE_MS = 60_000;
const tools = inject("lab");

describe("from the event to the webhook", () => {
  let lab: Lab;
  const rows: Row[] = [];
  const expected: string[] = [];

  beforeAll(async () => {
    if (tools.ok) lab = await startLab();
  }, 3 * MINUTE_MS);

  afterAll(async () => {
    await lab?.close();
    const file = process.env["E2E_TIMES"];
    if (file !== undefined) await writeFile(file, `${JSON.stringify(rows, undefined, 1)}\n`);
    if (rows.length > 0) process.stdout.write(`\n${formatTable(rows)}\n`);
  });

  test.concurrent.for(CASES)("$name", { timeout: 10 * MINUTE_MS }, async ({ play, owns }, { skip }) => {
    if (!tools.ok) skip(tools.reason);
    const scene = createScene(lab);
    await play(scene, lab);
    rows.push(...scene.rows());
    expected.push(...scene.expected());
    const told = newsOf(readNotifications(await lab.notifications()), owns);
    expect(told.map(({ status, alert }) => `${status} ${alert}`).toSorted()).toEqual(
      scene.expected().toSorted(),
    );
  });

  test("nothing else was told, and nothing twice", { timeout: 2 * MINUTE_MS }, async ({ skip }) => {
    if (!tools.ok) skip(tools.reason);
    await eventually(async () => expect(await lab.query('ALERTS{alertstate="pending"}')).toEqual([]), {
      timeoutMs: MINUTE_MS,
      everyMs: 1_000,
    });
    const notifications = readNotifications(await lab.notifications());
    const told = newsOf(notifications, () => true).map(({ status, alert }) => `${status} ${alert}`);
    expect(told.toSorted()).toEqual(expected.toSorted());
    expect(notifications.filter((notices) => notices.every(({ isNews }) => !isNews))).toEqual([]);
  });
});
