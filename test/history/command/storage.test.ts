import { expect, test } from "vitest";
import {
  parseRetentionBytes,
  parseRetentionMs,
  parseStoragePath,
  storageOf,
} from "../../../src/history/command/storage.ts";

const DAY_MS = 86_400_000;

test.each([
  ["400d", 400 * DAY_MS],
  ["1y", 365 * DAY_MS],
  ["2w3d12h", 17.5 * DAY_MS],
])("a retention of %s is %d ms", (text, ms) => {
  expect(parseRetentionMs(text)).toBe(ms);
});

test.each([
  ["1B", 1],
  ["512KB", 524_288],
  ["512MB", 536_870_912],
  ["1GB", 1_073_741_824],
  ["1.5GB", 1_610_612_736],
  ["2TB", 2_199_023_255_552],
])("a retention of %s is %d bytes", (text, bytes) => {
  expect(parseRetentionBytes(text)).toBe(bytes);
});

test.each([undefined, ""])("without a folder, or with an empty one, nothing is kept: %j", (path) => {
  const flags = { "storage.retention.time": DAY_MS, "storage.retention.size": 1 };
  expect(storageOf(path === undefined ? flags : { ...flags, "storage.path": path })).toBeUndefined();
});

test.each([`/${"é".repeat(48)}`, "journal", ""])("a folder may be %s", (path) => {
  expect(parseStoragePath(path)).toBe(path);
});
