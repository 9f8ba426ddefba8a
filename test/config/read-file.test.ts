import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";

import { readFailure, readTextFile } from "../../src/config/read-file.ts";
import { endChild } from "../support/child.ts";

test.skipIf(process.platform !== "linux")("a file without a size is read up to the limit", async () => {
  const child = spawn("sh", ["-c", "read line", "x".repeat(50_000)], { stdio: ["pipe", "ignore", "ignore"] });
  onTestFinished(() => endChild(child));
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
  ["ESTALE", true, "cannot be read (ESTALE)"],
  ["ENOENT", false, "no such file"],
  ["EACCES", false, expect.stringMatching(/^permission denied \(running as uid \d+( \(.+\))?\)$/)],
  ["ELOOP", false, "cannot be read (ELOOP)"],
])("%s: system error %s", (code, isSystemError, message) => {
  const error = Object.assign(new Error("it failed"), { code });
  expect(readFailure(error)).toEqual({ ok: false, message, isSystemError });
});
