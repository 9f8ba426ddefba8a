import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { copyProject, makePackages } from "./prepare.ts";

const sums = (project: string) => readFile(join(project, "out/SHA256SUMS"), "utf8");

test("the packages are the same from another folder, by another umask and in another time zone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const again = join(folder, "somewhere/else");
  await copyProject(inject("project"), again);
  await makePackages(again, { umask: "0077", variables: { TZ: "Pacific/Chatham" } });
  expect(await sums(again)).toBe(await sums(inject("project")));
});
