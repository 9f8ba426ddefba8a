import { describe, expect, it } from "vitest";

import { createCleanup } from "../../src/demo/cleanup.ts";

describe("a cleanup", () => {
  it("undoes the latest first, and each thing once", async () => {
    const undone: string[] = [];
    const cleanup = createCleanup();
    for (const name of ["folder", "website", "exporter"]) cleanup.add(async () => void undone.push(name));
    await cleanup.run();
    await cleanup.run();
    expect(undone).toEqual(["exporter", "website", "folder"]);
  });

  it("undoes the rest if one step fails, and rejects with the reason", async () => {
    const undone: string[] = [];
    const cleanup = createCleanup();
    cleanup.add(async () => void undone.push("folder"));
    cleanup.add(() => Promise.reject(new Error("cannot close")));
    await expect(cleanup.run()).rejects.toThrow("cannot close");
    expect(undone).toEqual(["folder"]);
  });
});
