import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, readdir, stat, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CARP0, startAppliance } from "../../appliance/support.ts";
import { createFolder } from "../config/folder.ts";
import { COMMAND } from "../../support/command.ts";

/** The user of the image. */
const NOBODY = 65_534;
/** A user of the machine, who owns the folder that a container mounts. */
const SOMEBODY = 4321;

/** A folder of this user that is otherwise empty, below one that everybody may enter. */
async function folderOf(uid: number): Promise<string> {
  const folder = join(await createFolder({ "config/x": "" }), "config");
  await chmod(join(folder, ".."), 0o755);
  await chown(folder, uid, uid);
  return folder;
}

/** Runs a command as this user, with the password on standard input. */
async function as(uid: number, folder: string, ...argv: readonly string[]) {
  const options = { cwd: folder, uid, gid: uid, env: { PATH: process.env["PATH"] } };
  const child = spawn(process.execPath, [COMMAND, ...argv], options);
  child.stdin.on("error", () => {}).end("pass:word\n");
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, out, err };
}

async function initAs(uid: number, folder: string, ...into: readonly string[]) {
  const { port } = await startAppliance({ vrrp: async () => ({ ok: true, interfaces: [CARP0] }) });
  const url = `waf=https://127.0.0.1:${port}`;
  return as(uid, folder, "init", ...into, url, "--username=monitor", "--password-file=-", "--yes");
}

async function ownersIn(folder: string): Promise<readonly string[]> {
  const names = ["config.yaml", "known_certificates", "secrets", "secrets/monitor"];
  const found = await Promise.all(names.map((name) => stat(join(folder, name))));
  return found.map(({ uid, gid, mode }) => `${uid} ${gid} ${(mode & 0o7777).toString(8)}`);
}

test.each([
  ["the user of the image", NOBODY, NOBODY],
  ["the user of the machine, as docker run --user", SOMEBODY, SOMEBODY],
  ["root, in a folder of the user of the image", 0, NOBODY],
])("init, check and trust work as %s", async (_, uid, owner) => {
  const folder = await folderOf(owner);
  expect(await initAs(uid, folder)).toMatchObject({ code: 0, err: "" });
  const id = `${owner} ${owner}`;
  expect(await ownersIn(folder)).toEqual([`${id} 644`, `${id} 644`, `${id} 700`, `${id} 600`]);
  expect(await as(owner, folder, "check", "--live")).toMatchObject({ code: 0, err: "" });
  expect(await as(owner, folder, "trust")).toMatchObject({ code: 0, err: "" });
});

test.each([
  ["root, in a folder of root", 0, "; a service of another user cannot read it"],
  ["somebody with a strict umask", SOMEBODY, ""],
])("a new folder is for others to enter, and the passwords in it are not: %s", async (_, uid, warning) => {
  const folder = await folderOf(uid);
  const before = process.umask(0o077);
  onTestFinished(() => void process.umask(before));
  const { code, out } = await initAs(uid, folder, "./new");
  expect(code).toBe(0);
  expect(out).toContain(`the password, for uid ${uid} only${warning}\n`);
  const modes = await Promise.all(["new", "new/secrets"].map((name) => stat(join(folder, name))));
  expect(modes.map(({ mode }) => (mode & 0o7777).toString(8))).toEqual(["755", "700"]);
});

test("a folder of somebody else is an error that names the user to be, and nothing is written", async () => {
  const folder = await folderOf(SOMEBODY);
  const { code, err } = await initAs(NOBODY, folder);
  expect(code).toBe(1);
  expect(err).toMatch(
    /^cannot write \.: permission denied \(running as uid 65534.*\); the folder belongs to uid 4321, gid 4321: run this as that user\n$/,
  );
  expect(await readdir(folder)).toEqual(["x"]);
});

test("trust that cannot write names the user to be", async () => {
  const folder = await folderOf(SOMEBODY);
  expect((await initAs(SOMEBODY, folder)).code).toBe(0);
  await Promise.all([chmod(join(folder, "secrets"), 0o755), chmod(join(folder, "secrets/monitor"), 0o644)]);
  await writeFile(join(folder, "known_certificates"), "");
  const { code, err } = await as(NOBODY, folder, "trust", "--yes");
  expect(code).toBe(1);
  expect(err).toMatch(
    /^cannot write \/.*\/config\/known_certificates: permission denied \(running as uid 65534.*\); the folder belongs to uid 4321, gid 4321: run this as that user\n$/,
  );
});
