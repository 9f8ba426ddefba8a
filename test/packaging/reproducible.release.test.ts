import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { copyProject, makePackages } from "./prepare.ts";
import { CHECKSUMS, packagePath } from "./root.ts";

test("the packages are the same from another folder, by another umask and in another time zone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const again = join(folder, "somewhere/else");
  await copyProject(inject("project"), again);
  await makePackages(again, { umask: "0077", variables: { TZ: "Pacific/Chatham" } });
  const sums = await readFile(await packagePath(CHECKSUMS), "utf8");
  expect(await readFile(join(again, "out", CHECKSUMS), "utf8")).toBe(sums);
});
