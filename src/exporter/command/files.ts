import { randomUUID } from "node:crypto";
import { access, constants, mkdir, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../../support/errors.ts";
import { NO_SUCH_FILE, readFailure } from "../config/read-file.ts";

const NEW_FILE_MODE = 0o644;

/** Returns where the links of a path lead, even if no file is there. */
async function targetOf(path: string): Promise<string> {
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? path : targetOf(resolve(await realpath(dirname(path)), link));
}

/**
 * Replaces a file so that readers see the old text or the new one. A file keeps its mode and, if permitted, its owner; a link stays a link.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await targetOf(path);
  const before = await stat(target).catch(() => undefined);
  const temporary = `${target}.${randomUUID()}`;
  // The flag wx creates a new file: a link of this name, from whoever may write to the folder, must not redirect the text.
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    if (before !== undefined) await file.chown(before.uid, before.gid).catch(() => {});
    await file.chmod(before?.mode ?? NEW_FILE_MODE);
    await rename(temporary, target);
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}

/** A file to create. */
export interface NewFile {
  /** Relative to the folder of all. */
  readonly name: string;
  readonly text: string;
  /** Whether only its owner may read it, or also its group if nobody else may read the folder. */
  readonly isSecret?: boolean;
}

/**
 * Creates files, and the folders that they need, in a folder, and then replaces the file `last`: all of it, or nothing after an error. No
 * other file that exists is changed. What a privileged user creates gets the owner and the group of the folder in which it is.
 */
export async function createFiles(folder: string, files: readonly NewFile[], last?: NewFile): Promise<void> {
  const created: string[] = [];
  try {
    created.push(...(await createFolder(resolve(folder), 0o755)));
    for (const { name, text, isSecret = false } of files) {
      const path = resolve(folder, name);
      const parent = dirname(path);
      created.push(...(await createFolder(parent, isSecret ? 0o700 : 0o755)));
      const { uid, gid, mode: parentMode } = await stat(parent);
      // The folder of the Debian package is for a group: 2750.
      const isForGroup = (parentMode & 0o047) === 0o040;
      const mode = isSecret ? (isForGroup ? 0o640 : 0o600) : NEW_FILE_MODE;
      const file = await open(path, "wx", mode);
      created.push(path);
      try {
        await file.chown(uid, gid).catch(() => {});
        // The user may have a umask that is stricter or laxer.
        await file.chmod(mode);
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
    }
    if (last !== undefined) await replaceFile(resolve(folder, last.name), last.text);
  } catch (error) {
    for (const path of created.toReversed()) await rm(path, { recursive: true, force: true });
    throw error;
  }
}

/** Creates a folder and those above it that are missing; returns the topmost one that it created. */
async function createFolder(path: string, mode: number): Promise<readonly string[]> {
  const topmost = await mkdir(path, { recursive: true, mode });
  if (topmost === undefined) return [];
  const { uid, gid } = await stat(dirname(topmost));
  for (let each = path; each.length >= topmost.length; each = dirname(each)) {
    // Whoever owns the folder above may have put a link here, which must not be followed.
    const made = await open(each, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await made.chown(uid, gid).catch(() => {});
      // As for files: the user may have another umask.
      await made.chmod(mode);
    } finally {
      await made.close();
    }
  }
  return [topmost];
}

/** Returns why no file can be created in a folder, which may be missing; `undefined` if it is possible. */
export async function whyUnwritable(folder: string): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder}: it is no folder`;
    await access(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const isMissing = errorCode(error) === "ENOENT" && dirname(folder) !== folder;
    return isMissing ? whyUnwritable(dirname(folder)) : describeWriteError(folder, error);
  }
}

/** Returns why a file or folder could not be written, and who could. */
export async function describeWriteError(path: string, error: unknown): Promise<string> {
  const code = errorCode(error);
  if (code === "EEXIST") return `${path} exists already`;
  const { message } = readFailure(error);
  if (message === NO_SUCH_FILE) return `cannot write ${path}: ${dirname(path)} does not exist`;
  if (code === "EROFS") return `cannot write ${path}: it is read-only`;
  if (code !== "EACCES" && code !== "EPERM") return `cannot write ${path} (${code})`;
  const found = await stat(path).catch(() => undefined);
  const folder = found?.isDirectory() === true ? found : await stat(dirname(path)).catch(() => undefined);
  const who = folder && `; the folder belongs to uid ${folder.uid}, gid ${folder.gid}: run this as that user`;
  return `cannot write ${path}: ${message}${who ?? ""}`;
}
