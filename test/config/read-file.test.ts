import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { readFailure, readTextFile } from "../../src/config/read-file.ts";

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "file");
  await writeFile(path, text);
  return path;
}

test("a file of one byte more than the limit is an error", async () => {
  const read = await readTextFile(await fileOf("x".repeat(4097)), 4096);
  expect(read).toEqual({ ok: false, message: "it is larger than 4096 bytes", isSystemError: false });
});

test.skipIf(process.platform !== "linux")("a file without a size is read up to the limit", async () => {
  const child = spawn("sh", ["-c", "read line", "x".repeat(50_000)], { stdio: ["pipe", "ignore", "ignore"] });
  onTestFinished(() => void child.kill());
  await once(child, "spawn");
  const path = `/proc/${child.pid}/cmdline`;
  const text = await readFile(path, "utf8");
  expect(text.length).toBeGreaterThan(50_000);
  expect(await readTextFile(path, text.length)).toEqual({ ok: true, text });
  expect(await readTextFile(path, text.length - 1)).toMatchObject({ ok: false });
});

test.skipIf(process.platform !== "linux")("an I/O error is a system error", async () => {
  expect(await readTextFile("/proc/self/mem", 4096)).toEqual({
    ok: false,
    message: "cannot be read (EIO)",
    isSystemError: true,
  });
});

test.each([
  ["EMFILE", true, "cannot be read (EMFILE)"],
  ["ENFILE", true, "cannot be read (ENFILE)"],
  ["ENOMEM", true, "cannot be read (ENOMEM)"],
  ["EIO", true, "cannot be read (EIO)"],
  ["ESTALE", true, "cannot be read (ESTALE)"],
  ["ETIMEDOUT", true, "cannot be read (ETIMEDOUT)"],
  ["ENOENT", false, "no such file"],
  ["ENOTDIR", false, "no such file"],
  ["EACCES", false, "permission denied"],
  ["EPERM", false, "permission denied"],
  ["ELOOP", false, "cannot be read (ELOOP)"],
  ["ENAMETOOLONG", false, "cannot be read (ENAMETOOLONG)"],
  ["ENXIO", false, "cannot be read (ENXIO)"],
])("%s: system error %s", (code, isSystemError, message) => {
  const error = Object.assign(new Error("it failed"), { code });
  expect(readFailure(error)).toEqual({ ok: false, message, isSystemError });
});
