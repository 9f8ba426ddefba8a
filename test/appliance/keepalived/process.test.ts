import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findKeepalived } from "../../../src/appliance/keepalived.ts";
import { SIGJSON, startFake, startNamed } from "./fake.ts";
import { temporaryFolder } from "./support.ts";

/** The process for a pid file with this content; reasons are without the folder. */
async function find(content: string | undefined, signal = SIGJSON) {
  const folder = await temporaryFolder();
  const pidFile = join(folder, "vrrp.pid");
  if (content !== undefined) await writeFile(pidFile, content);
  const found = await findKeepalived(pidFile, signal);
  return found.ok ? { pid: found.pid } : { reason: found.reason.replace(`${folder}/`, "") };
}

test.each([
  ["is missing", undefined, "vrrp.pid: no such file"],
  ["names the caller's process group", "0\n", "vrrp.pid: it holds no process id"],
  ["names another process group", "-1\n", "vrrp.pid: it holds no process id"],
  ["holds two ids", "12\n13\n", "vrrp.pid: it holds no process id"],
])("finds nothing where the pid file %s", async (_, content, reason) => {
  expect(await find(content)).toEqual({ reason: `keepalived is not running: ${reason}` });
});

describe("looks at the process", () => {
  test("finds keepalived that handles the signal", async () => {
    const { child } = await startFake(":");
    expect(await find(`${child.pid}\n`)).toEqual({ pid: child.pid });
  });

  test("recognizes keepalived by its command, in any directory", async () => {
    const child = startNamed("/usr/local/sbin/keepalived-2.3", "bash", "-c", `trap : ${SIGJSON}; read`);
    await expect.poll(() => find(String(child.pid))).toMatchObject({ pid: child.pid });
  });

  test("finds nothing if the process has ended", async () => {
    const child = startNamed("keepalived", "true");
    await once(child, "exit");
    const reason = `keepalived is not running: process ${child.pid}, named in vrrp.pid, does not exist`;
    expect(await find(String(child.pid))).toEqual({ reason });
  });

  test("rejects another program that reuses the pid, even if it handles the signal", async () => {
    const child = startNamed("bash", "bash", "-c", `trap : ${SIGJSON}; read`);
    const reason = `keepalived is not running: process ${child.pid}, named in vrrp.pid, is another program`;
    expect(await find(String(child.pid))).toEqual({ reason });
  });

  test("rejects keepalived while it does not handle the signal, which would kill it", async () => {
    const child = startNamed("keepalived", "sleep", "1000");
    const found = await find(String(child.pid));
    expect(found).toMatchObject({ reason: expect.stringContaining("does not handle signal 36") });
    const { child: other } = await startFake(":");
    expect(await find(String(other.pid), SIGJSON + 1)).toMatchObject({
      reason: expect.stringContaining("does not handle signal 37"),
    });
  });
});
