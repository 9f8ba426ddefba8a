import { expect, test } from "vitest";
import { openExporter } from "../../src/operator/fetch-fleet.ts";
import { createTestIo } from "../support/io.ts";
import { serve } from "../program/support.ts";

test.each([
  ["localhost:10849", "http://localhost:10849/"],
  ["exporter.example/base", "http://exporter.example/base"],
  ["https://exporter.example", "https://exporter.example/"],
])("the URL %s is %s", async (url, expected) => {
  const { io } = await createTestIo();
  const exporter = await openExporter({ url, output: "table" }, io);
  if (typeof exporter === "number") throw new Error("the URL is valid");
  expect(exporter.url).toBe(expected);
  exporter.close();
});

test("an exporter that refuses a POST is quoted, with its URL and without invisible characters", async () => {
  const url = `${await serve((_, response) => response.writeHead(409).end("a drill\u0007 runs"))}/exporter`;
  const { io } = await createTestIo();
  const exporter = await openExporter({ url, output: "table" }, io);
  if (typeof exporter === "number") throw new Error("the URL is valid");
  const answer = await exporter.post("/api/v1/maintenance", { end: { id: "abc" } }, 5000);
  expect(answer).toEqual({ ok: false, message: `${url}: a drill\\u0007 runs` });
  exporter.close();
});
