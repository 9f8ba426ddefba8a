import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { endChild } from "./child.ts";
import { COMMAND } from "./command.ts";
import { Secret } from "../../src/support/secret.ts";
import {
  createLog,
  isJournal,
  toLogfmt,
  type Log,
  type LogFormat,
  type LogLevel,
} from "../../src/support/log.ts";

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "log-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** What is logged at this level in this format, as lines. */
async function logged(
  level: LogLevel,
  format: LogFormat,
  write: (log: Log) => void,
  toJournal = false,
): Promise<readonly string[]> {
  const path = join(temporaryDirectory(), "log");
  const log = createLog(level, format, openSync(path, "w"), toJournal);
  write(log);
  await log.flush();
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

/** Lines without their time, which must be ISO 8601. */
function timeless(line: string): string {
  const time = /\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\.\d{3}Z| \d\d:\d\d:\d\dZ)/;
  expect(line).toMatch(time);
  return line.replace(time, "TIME");
}

const JSON_LINE = '{"level":"warn","time":"TIME","appliance":"waf 1","polls":3,"msg":"exporter started"}';
const TEXT_LINE = 'TIME  WARN: exporter started  appliance="waf 1" polls=3';
const LOGFMT_LINE = 'level=warn time=TIME appliance="waf 1" polls=3 msg="exporter started"';

test.each([
  ["json", false, JSON_LINE],
  ["logfmt", false, LOGFMT_LINE],
  ["text", false, TEXT_LINE],
  ["json", true, `<4>${JSON_LINE}`],
  ["logfmt", true, `<4>${LOGFMT_LINE}`],
] as const)("a line of %s, in the journal: %j, has its level, time, fields and message", async (...given) => {
  const [format, toJournal, expected] = given;
  const lines = await logged(
    "info",
    format,
    ({ logger }) => logger.warn({ appliance: "waf 1", polls: 3 }, "exporter started"),
    toJournal,
  );
  expect(lines.map(timeless)).toEqual([expected]);
});

test.each([
  ["debug", ["<7>debug", "<6>info", "<4>warn", "<3>error"]],
  ["warn", ["<4>warn", "<3>error"]],
] as const)("at %s, %j are logged", async (level, expected) => {
  const lines = await logged(
    level,
    "json",
    ({ logger }) => {
      for (const each of ["debug", "info", "warn", "error"] as const) logger[each]("x");
    },
    true,
  );
  expect(lines.map((line) => line.replace(/^(<.>)\{"level":"(\w+)".*$/, "$1$2"))).toEqual(expected);
});

test("a line of JSON escapes invisible characters", async () => {
  const appliance = "waf\u200B\u2028\u009B\u{E0001}";
  const [line = ""] = await logged("info", "json", ({ logger }) => logger.info({ appliance }, "x"));
  expect(line).toContain(String.raw`"waf\u200b\u2028\u009b\udb40\udc01"`);
  expect(JSON.parse(line)).toMatchObject({ appliance });
});

test("text has the sentences of a line first, on one line", async () => {
  const lines = await logged("info", "text", ({ logger }) => {
    logger.info({ cluster: "ams", summary: "b took over\nfrom a" }, "incident");
    logger.error({ detail: "EACCES" }, "journal cannot be written");
    logger.info("stopping");
  });
  expect(lines.map(timeless)).toEqual([
    "TIME  incident: b took over from a  cluster=ams",
    "TIME  ERROR: journal cannot be written: EACCES",
    "TIME  stopping",
  ]);
});

test.each(["json", "logfmt", "text"] as const)("no secret appears in %s", async (format) => {
  const lines = await logged("debug", format, ({ logger }) => {
    logger.info({ secret: new Secret("hunter2"), nested: { deep: [new Secret("hunter2")] } }, "x");
    logger.info({ password: "hunter2", http: { authorization: "hunter2", password: "hunter2" } }, "x");
    logger.error({ detail: String(new Secret("hunter2")) }, "x");
  });
  expect(lines).toHaveLength(3);
  expect(lines.join("\n")).not.toContain("hunter2");
  expect(lines.join("\n")).toContain("<secret>");
});

test.each([
  [{ a: "plain" }, "a=plain"],
  [{ a: "" }, 'a=""'],
  [{ a: 'say "x"' }, String.raw`a="say \"x\""`],
  [{ a: "x=y" }, 'a="x=y"'],
  [{ a: "back\\slash" }, String.raw`a="back\\slash"`],
  [{ a: "line\nbreak" }, String.raw`a="line\nbreak"`],
  [{ a: "\u200Bplain\u{E0001}\u009B" }, String.raw`a="\u200bplain\udb40\udc01\u009b"`],
  [{ a: 1.5, b: true, c: null }, "a=1.5 b=true c=null"],
  [{ a: { b: 1 } }, String.raw`a="{\"b\":1}"`],
])("%j is the line %s", (fields, line) => {
  expect(toLogfmt(JSON.stringify(fields))).toBe(`${line}\n`);
});

test("a descriptor is the journal if JOURNAL_STREAM has its device and inode", () => {
  const path = join(temporaryDirectory(), "log");
  const fd = openSync(path, "w");
  const { dev, ino } = fstatSync(fd);
  const streams = [`${dev}:${ino}`, `${dev}:${ino + 1}`, `${dev + 1}:${ino}`, "", undefined];
  expect(streams.map((stream) => isJournal(fd, stream))).toEqual([true, false, false, false, false]);
});

test("in the journal, the lines of a failed start are errors", async () => {
  const folder = temporaryDirectory();
  const fd = openSync(join(folder, "stderr"), "w");
  const { dev, ino } = fstatSync(fd);
  const child = spawn(process.execPath, [COMMAND, "run", "--config.file=missing.yaml"], {
    cwd: folder,
    env: { ...process.env, JOURNAL_STREAM: `${dev}:${ino}` },
    stdio: ["ignore", "ignore", fd],
  });
  onTestFinished(() => endChild(child));
  await once(child, "close");
  expect(readFileSync(join(folder, "stderr"), "utf8")).toMatch(/^<3>missing\.yaml: [^\n]*\n$/);
});

// The last test: what it leaves unwritten could reach the file of another one.
test("lines that nobody reads are dropped and counted, and the writer never waits", async () => {
  const fifo = join(temporaryDirectory(), "fifo");
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", fifo]);
  const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  const log = createLog("info", "json", fd);
  const detail = "x".repeat(10_000);
  for (let i = 0; i < 500; i += 1) log.logger.info({ detail }, "x");
  expect(log.dropped()).toBeGreaterThan(300);
  expect(log.dropped()).toBeLessThan(500);
  await log.flush();
  const lost = log.dropped();
  log.logger.info("a line that comes after all is given up");
  expect(log.dropped()).toBe(lost + 1);
});
