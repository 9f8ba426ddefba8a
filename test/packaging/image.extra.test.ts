import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { toolPath } from "../support/tool.ts";

const execute = promisify(execFile);

/** The name that the Dockerfile asks for. */
const BASE = "docker.io/library/node:24-bookworm-slim";
const NPM = "/usr/local/lib/node_modules/npm";
const IMAGE = "appliance-exporter";

const work = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
afterAll(() => rm(work, { recursive: true }));

/** Runs buildah with a storage of this test. It needs no engine. */
async function buildah(...args: readonly string[]): Promise<string> {
  const storage = ["--storage-driver=vfs", `--root=${join(work, "storage")}`, `--runroot=${join(work, "run")}`];
  const env = { ...process.env, BUILDAH_ISOLATION: "chroot" };
  return (await execute(toolPath("buildah"), [...storage, ...args], { env, maxBuffer: 2 ** 26 })).stdout.trim();
}

async function npmConfig(key: string): Promise<string | undefined> {
  const value = (await execute("npm", ["config", "get", key])).stdout.trim();
  return ["null", "undefined", ""].includes(value) ? undefined : value;
}
