import { expect, test } from "vitest";
import { readFailure, readTextFile } from "../../../src/exporter/config/read-file.ts";

test.skipIf(process.platform !== "linux")("an I/O error is a system error", async () => {
  expect(await readTextFile("/proc/self/mem")).toEqual({
    ok: false,
    message: "cannot be read (EIO)",
    isSystemError: true,
  });
});

test.each([
  ["EMFILE", true, "cannot be read (EMFILE)"],
  ["ENOENT", false, "no such file"],
  ["EACCES", false, expect.stringMatching(/^permission denied \(running as uid \d+( \(.+\))?\)$/)],
  ["ELOOP", false, "its path is a loop of links"],
  ["ESTALE", true, "cannot be read (ESTALE)"],
])("%s: system error %s", (code, isSystemError, message) => {
  const error = Object.assign(new Error("it failed"), { code });
  expect(readFailure(error)).toEqual({ ok: false, message, isSystemError });
});
