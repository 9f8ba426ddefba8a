import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCredentials, createPasswordReader } from "../../../src/exporter/client/credentials.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createFolder } from "../config/folder.ts";

/** A clock that passes this time at each look. */
function steppingClock(stepMs: number) {
  let nowMs = 0;
  return { monotonicMs: () => (nowMs += stepMs) };
}

async function passwordFile(content: string | Uint8Array): Promise<{ kind: "file"; path: string }> {
  return { kind: "file", path: join(await createFolder({ password: content }), "password") };
}

async function read(content: string | Uint8Array): Promise<string> {
  const result = await createPasswordReader(2, systemClock)(await passwordFile(content));
  return result.ok ? `password ${result.secret.reveal()}` : result.message;
}

test.each([
  ["hunter2", "password hunter2"],
  ["hunter2\r\n", "password hunter2"],
  ["\uFEFF  hunter 2 \r\n\r\n", "password hunter 2"],
  ["pässwörd", "password pässwörd"],
  [" \r\n", "it is empty"],
  ["one\ntwo\n", "it contains more than one line or a control character"],
  ["one\0two", "it contains more than one line or a control character"],
  [Uint8Array.of(0xff, 0xfe, 0x41), "it is not UTF-8"],
])("a file with %j: %s", async (content, expected) => {
  expect(await read(content)).toBe(expected);
});

test("a changed file is read again after a tenth of a second", async () => {
  const readPassword = createPasswordReader(2, steppingClock(10));
  const source = await passwordFile("first");
  const first = await readPassword(source);
  await writeFile(source.path, "other");
  expect(await readPassword(source)).toBe(first);
  const results = [];
  for (let nth = 0; nth < 20; nth += 1) results.push(await readPassword(source));
  const last = results.at(-1);
  expect(last?.ok === true && last.secret.reveal()).toBe("other");
});

test("deleting and restoring a file is noticed each time", async () => {
  const readPassword = createPasswordReader(2, steppingClock(200));
  const source = await passwordFile("hunter2");
  const before = await readPassword(source);
  await rm(source.path);
  const gone = await readPassword(source);
  await writeFile(source.path, "hunter3");
  const after = await readPassword(source);
  expect([before.ok, gone.ok, after.ok && after.secret.reveal()]).toEqual([true, false, "hunter3"]);
});

test("appliances with the same user and password file share credentials, until either is another one", async () => {
  const password = await passwordFile("correct horse");
  const readerOf = createCredentials(createPasswordReader(2, steppingClock(200)), { accept: "text/plain" });
  const credentialsOf = async (username: string) => {
    const result = await readerOf({ username, password })();
    return result.ok ? result.value : undefined;
  };
  const monitor = await credentialsOf("monitor");
  const authorization = `Basic ${Buffer.from("monitor:correct horse").toString("base64")}`;
  expect(monitor?.headers).toEqual({ accept: "text/plain", authorization });
  expect(await credentialsOf("monitor")).toBe(monitor);
  const backup = await credentialsOf("backup");
  expect(backup?.redact(Buffer.from("backup:correct horse").toString("base64"))).toBe("<secret>");
  expect(await credentialsOf("monitor")).toBe(monitor);
  await writeFile(password.path, "battery staple");
  const changed = await credentialsOf("monitor");
  expect(changed?.redact("the battery staple")).toBe("the <secret>");
  expect(new Set([monitor, backup, changed].map((each) => each?.id)).size).toBe(3);
});
