import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPasswordReader } from "../../src/config/password-file.ts";
import { createFolder } from "./folder.ts";

/** A clock for which every file has long been unchanged. */
const late = { wallMs: () => Date.now() + 60_000 };

async function passwordFile(content: string | Uint8Array): Promise<{ kind: "file"; path: string }> {
  return { kind: "file", path: join(await createFolder({ password: content }), "password") };
}

async function read(content: string | Uint8Array): Promise<string> {
  const result = await createPasswordReader({ maxReads: 2, wallMs: Date.now })(await passwordFile(content));
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
  ["x".repeat(65_537), "it is larger than 65536 bytes"],
])("a file with %j: %s", async (content, expected) => {
  expect(await read(content)).toBe(expected);
});

test("a changed file is read again, even at once and with the same length", async () => {
  const readPassword = createPasswordReader({ maxReads: 2, wallMs: Date.now });
  const source = await passwordFile("first");
  const passwords = [];
  for (const password of ["other", "third", "forth"]) {
    await readPassword(source);
    await writeFile(source.path, password);
    const result = await readPassword(source);
    passwords.push(result.ok && result.secret.reveal());
  }
  expect(passwords).toEqual(["other", "third", "forth"]);
});

test("an unchanged file is not read again", async () => {
  const readPassword = createPasswordReader({ maxReads: 2, ...late });
  const source = await passwordFile("hunter2");
  const first = await readPassword(source);
  expect(await readPassword(source)).toBe(first);
});

test("a file that has just changed is read again, because its times may not show the next change", async () => {
  const readPassword = createPasswordReader({ maxReads: 2, wallMs: Date.now });
  const source = await passwordFile("hunter2");
  const first = await readPassword(source);
  const second = await readPassword(source);
  expect(second).not.toBe(first);
  expect(second.ok && second.secret.reveal()).toBe("hunter2");
});

test("deleting and restoring a file is noticed each time", async () => {
  const readPassword = createPasswordReader({ maxReads: 2, ...late });
  const source = await passwordFile("hunter2");
  const before = await readPassword(source);
  await rm(source.path);
  const gone = await readPassword(source);
  await writeFile(source.path, "hunter3");
  const after = await readPassword(source);
  expect([before.ok, gone.ok, after.ok && after.secret.reveal()]).toEqual([true, false, "hunter3"]);
});
