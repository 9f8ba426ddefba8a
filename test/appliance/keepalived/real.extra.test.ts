import { execFile, execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { VRRP_LIST } from "../../../src/exporter/api/vrrp-list.ts";
import { vrrpSchema } from "../../../src/appliance/config.ts";
import type { KeepalivedOptions, SendSignal } from "../../../src/appliance/keepalived.ts";
import { toolPath } from "../../support/tool.ts";
import { query, startAppliance } from "../support.ts";
import { describeState, instanceOf, NOBODY, sourceIn, startKeepalived, startLone } from "./lab.ts";
import { kill, optionsIn, sourceOf, temporaryFolder } from "./support.ts";

/** The number of the signal for a dump. */
function signalNumber(): number {
  return Number(execFileSync(toolPath("keepalived"), ["--signum=JSON"], { encoding: "utf8" }));
}

/** The state that another user gets. */
async function stateAs(uid: number, options: KeepalivedOptions): Promise<unknown> {
  const script = fileURLToPath(new URL("state-as.ts", import.meta.url));
  const args = ["--import", import.meta.resolve("tsx"), script, String(uid), JSON.stringify(options)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

test("a request to a real keepalived returns 503 with the reason after a crash, and its state again after a start", async () => {
  const keepalived = await startLone();
  const { port } = await startAppliance({ vrrp: sourceIn(keepalived) });
  const answer = async () => {
    const { status, body } = await query(port, VRRP_LIST.path());
    return { status, body: body.replaceAll(`${keepalived.folder}/`, "") };
  };
  const isMaster = { status: 200, body: expect.stringContaining('"state_current":"MASTER"') };
  await expect.poll(answer).toEqual(isMaster);
  await keepalived.crash();
  const pid = (await readFile(join(keepalived.folder, "vrrp.pid"), "utf8")).trim();
  const error = `keepalived is not running: process ${pid}, named in vrrp.pid, does not exist`;
  await expect.poll(answer).toEqual({ status: 503, body: JSON.stringify({ error }) });
  await keepalived.start();
  await expect.poll(answer).toEqual(isMaster);
});

test("a request to a real keepalived sends one signal for twenty concurrent requests", async () => {
  const { folder } = await startLone();
  const send = vi.fn<SendSignal>(kill);
  const source = sourceOf(optionsIn(folder), send);
  const states = await Promise.all(Array.from({ length: 20 }, () => describeState(source)));
  expect(states.map(String)).toEqual(
    Array.from({ length: 20 }, () => expect.stringMatching(/^VI_1 [A-Z]+ 150$/)),
  );
  expect(send).toHaveBeenCalledOnce();
});

test("a request to a real keepalived works with the main process too", async () => {
  const keepalived = await startLone();
  const pidFile = join(keepalived.folder, "keepalived.pid");
  const source = sourceOf(optionsIn(keepalived.folder, { pidFile }));
  await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 150"]);
});

test("a request to a real keepalived does not kill it while it starts or stops", async () => {
  const keepalived = await startLone();
  const send = vi.fn<SendSignal>(kill);
  const source = sourceOf(optionsIn(keepalived.folder, { timeoutMs: 20 }), send);
  const over = new AbortController();
  const asking = (async () => {
    while (!over.signal.aborted) await source();
  })();
  for (let count = 0; count < 5; count += 1) {
    await expect.poll(() => send.mock.calls.length).toBeGreaterThan(0);
    await keepalived.stop();
    expect(keepalived.log()).not.toMatch(/died|exited due to signal/);
    send.mockClear();
    await keepalived.start();
  }
  over.abort();
  await asking;
  await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 150"]);
});

test("a request to a real keepalived works with the defaults of both", async () => {
  const { folder } = await startLone({ withDefaults: true });
  const vrrp = vrrpSchema.parse({ source: "keepalived" });
  if (vrrp.source !== "keepalived") throw new Error("expected keepalived");
  expect(signalNumber()).toBe(vrrp.signal);
  const files = { pidFile: join(folder, vrrp.pidFile), dumpFile: join(folder, vrrp.dumpFile) };
  await expect.poll(() => describeState(sourceOf({ ...vrrp, ...files }))).toEqual(["VI_1 MASTER 150"]);
});

test("a request to a real keepalived works for its own user, without root's rights", async () => {
  const keepalived = await startLone({ asNobody: true });
  expect(await stateAs(NOBODY, optionsIn(keepalived.folder))).toMatchObject({
    ok: true,
    interfaces: [{ name: "VI_1", priority: 150 }],
  });
});

test("the state of a real keepalived has the interfaces of its configuration", async () => {
  const keepalived = await startKeepalived(
    `vrrp_instance VI_1 {
      interface eth0
      virtual_router_id 51
      priority 150
      advert_int 0.1
      virtual_ipaddress {
        198.51.100.100/24
        198.51.100.101/25 dev eth0 label eth0:1
        198.51.100.102
      }
    }
    vrrp_instance "VI 2" {
      interface eth0
      virtual_router_id 52
      priority 255
      advert_int 0.1
      virtual_ipaddress {
        fe80::5/64
        2001:db8::2
      }
    }`,
  );
  const source = sourceIn(keepalived);
  const expected = {
    ok: true,
    interfaces: [
      {
        name: "VI_1",
        state: "MASTER",
        vhid: 51,
        vip: "198.51.100.100",
        netmask: "255.255.255.0",
        alias: ["198.51.100.101", "198.51.100.102"],
        priority: 150,
        device: "eth0",
        peer: "224.0.0.18",
        type: "2",
      },
      {
        name: "VI 2",
        state: "MASTER",
        vhid: 52,
        vip: "fe80::5",
        netmask: "ffff:ffff:ffff:ffff::",
        alias: ["2001:db8::2"],
        priority: 255,
        device: "eth0",
        peer: "224.0.0.18",
        type: "2",
      },
    ],
  };
  await expect.poll(source).toEqual(expected);
});

test("the state of a real keepalived reports the priority as changed by a tracked file", async () => {
  const weight = join(await temporaryFolder(), "weight");
  await writeFile(weight, "-20");
  const keepalived = await startKeepalived(
    `vrrp_track_file load {\n file ${weight}\n weight 1\n}\n` +
      instanceOf("priority 150\n track_file { load }"),
  );
  const source = sourceIn(keepalived);
  await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 130"]);
  await writeFile(weight, "10");
  await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 160"]);
});

test("the state of a real keepalived reports a fault, and the state after it", async () => {
  const keepalived = await startKeepalived(instanceOf("priority 150"));
  const source = sourceIn(keepalived);
  await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 150"]);
  keepalived.ip("link", "set", "eth0", "down");
  await expect.poll(() => describeState(source)).toEqual(["VI_1 FAULT 150"]);
  expect(keepalived.log()).toContain("(VI_1) Entering FAULT STATE");
  keepalived.ip("link", "set", "eth0", "up");
  await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 150"]);
});
