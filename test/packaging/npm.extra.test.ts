import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import { packagePath } from "./root.ts";

// The script builds, too: one after the other.
await packagePath(".tgz");

test("the npm package, installed in an empty folder, shows a MASTER of its demo", async () => {
  const script = join(inject("project"), "scripts/smoke-package.sh");
  expect((await promisify(execFile)(script)).stdout).toContain("the packed package works");
});
