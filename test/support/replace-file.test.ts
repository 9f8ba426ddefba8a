import { chmod, readdir, readFile, readlink, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replaceFile } from "../../src/support/replace-file.ts";
import { createFolder } from "../config/folder.ts";

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

test("a new file is readable for everyone", async () => {
  const folder = await createFolder({});
  await replaceFile(join(folder, "known"), async () => "text\n");
  expect(await readFile(join(folder, "known"), "utf8")).toBe("text\n");
  expect(await modeOf(join(folder, "known"))).toBe("644");
});

test("an existing file keeps its mode, a link stays a link, and nothing else is left", async () => {
  const folder = await createFolder({ file: "old\n" });
  await chmod(join(folder, "file"), 0o640);
  await symlink("file", join(folder, "known"));
  await replaceFile(join(folder, "known"), async () => "new\n");
  expect(await readlink(join(folder, "known"))).toBe("file");
  expect(await readFile(join(folder, "file"), "utf8")).toBe("new\n");
  expect(await modeOf(join(folder, "file"))).toBe("640");
  expect(await readdir(folder)).toEqual(["file", "known"]);
});

const failing = async () => expect.fail("no text");

test("of two calls at once, the second is refused before it reads, and the text of the first stays", async () => {
  const folder = await createFolder({ known: "old\n" });
  const known = join(folder, "known");
  await replaceFile(known, async () => {
    await expect(replaceFile(known, failing)).rejects.toThrow(
      `${known}.new exists: if no other command is writing, remove it`,
    );
    return `${await readFile(known, "utf8")}new\n`;
  });
  expect(await readFile(known, "utf8")).toBe("old\nnew\n");
  expect(await readdir(folder)).toEqual(["known"]);
});

test("a text that cannot be made changes nothing", async () => {
  const folder = await createFolder({ known: "old\n" });
  await expect(replaceFile(join(folder, "known"), failing)).rejects.toThrow("no text");
  expect(await readFile(join(folder, "known"), "utf8")).toBe("old\n");
  expect(await readdir(folder)).toEqual(["known"]);
});
