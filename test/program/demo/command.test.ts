import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { demo } from "../../../src/program/demo/command.ts";
import { listen, useTemporaryFolder } from "./support.ts";
import { createTestIo } from "../../support/io.ts";

const FLAGS = { "web.listenAddress": [{ host: "127.0.0.1", port: 0 }] };

test("the demo command prints what runs, where to look and what happens, until it is stopped", async () => {
  const folder = await useTemporaryFolder();
  const { io, printed, stop } = await createTestIo();
  const ended = demo(FLAGS, io, 100);
  await expect.poll(() => printed.out).toContain("repair: website shop is back");
  stop();
  expect(await ended).toBe(0);
  const text = printed.out.replaceAll(/(?<=127\.0\.0\.1:)\d+/g, "PORT");
  expect(text).toMatch(/^Three appliances[^]*\nStopped; nothing is left behind\.\n$/);
  expect(text.slice(0, FIRST_STEPS.length)).toBe(FIRST_STEPS);
  expect(text).toMatch(
    /\n==> outage: website shop closes connections without an answer\n {4}http:\/\/127\.0\.0\.1:PORT\/\n\n(\d problem|Not|All)[^]*CLUSTER[^]*\n\n {4}http:\/\/127\.0\.0\.1:PORT\/\n\n==> repair/,
  );
  expect(printed.err).toBe("");
  expect(await readdir(folder)).toEqual([]);
});

test("the demo command ends when its terminal is closed", async () => {
  const folder = await useTemporaryFolder();
  const { io, printed, hangUp } = await createTestIo();
  const ended = demo(FLAGS, io);
  await expect.poll(() => printed.out).toContain("Ctrl-C");
  hangUp();
  expect(await ended).toBe(0);
  expect(await readdir(folder)).toEqual([]);
});

test("the demo command reports in one line that its address is in use, and leaves nothing behind", async () => {
  const folder = await useTemporaryFolder();
  const port = await listen(0);
  const { io, printed } = await createTestIo();
  expect(await demo({ "web.listenAddress": [{ host: "127.0.0.1", port }] }, io)).toBe(1);
  const address = `127.0.0.1:${port}`;
  const err = `--web.listen-address=${address}: another program listens there already: stop it, or choose another port, such as --web.listen-address=127.0.0.1:${port + 1}\n`;
  expect(printed).toEqual({ out: "", err });
  expect(await readdir(folder)).toEqual([]);
});

test("the demo command leaves nothing behind after a bug", async () => {
  const folder = await useTemporaryFolder();
  const { io } = await createTestIo({
    out: (text) => {
      if (text.includes("==>")) throw new Error("output failed");
    },
  });
  await expect(demo(FLAGS, io, 1)).rejects.toThrow("output failed");
  expect(await readdir(folder)).toEqual([]);
});

const FIRST_STEPS = `Three appliances in one cluster, three websites and an exporter are running on this machine, for real. Open:

  http://127.0.0.1:PORT/
  http://127.0.0.1:PORT/metrics

Every 0.1 s something happens (==>); the exporter's log shows how it is detected. Press Ctrl-C to stop.

==> failover: demo-a steps down, and demo-b is the master now
    http://127.0.0.1:PORT/
`;
