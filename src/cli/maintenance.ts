import { randomBytes } from "node:crypto";
import { changedSchema, type WindowDocument } from "../maintenance/request.ts";
import type { FleetDocument } from "../status/schema.ts";
import { count, listed, listedBriefly, printable } from "../support/text.ts";
import { absoluteTime, duration, relativeTime } from "../view/time.ts";
import { DEFAULT_URL, fail, type ExitCode, type Flags, type Io } from "./command.ts";
import { MAINTENANCE, NO_EXPORTER, openExporter, parseAs, withNames } from "./fetch-fleet.ts";
import type { RunningExporter } from "./fetch-fleet.ts";
import { formatTable, toJson, type TableRow } from "./format.ts";

export interface MaintenanceFlags extends Pick<Flags, "http.config.file" | "output"> {
  readonly url?: readonly string[];
  readonly label?: readonly string[];
  readonly for?: string;
  readonly comment?: string;
  readonly id?: string;
}

const TIMEOUT_MS = 10_000;

interface Job {
  readonly flags: MaintenanceFlags;
  readonly io: Io;
  readonly exporters: readonly RunningExporter[];
  /** Names or ids. */
  readonly args: readonly string[];
}

interface Action {
  readonly run: (job: Job) => Promise<ExitCode>;
  readonly needs: string;
  readonly isComplete: (args: readonly string[], flags: MaintenanceFlags) => boolean;
}

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  [
    "start",
    {
      run: start,
      needs: "names of appliances or clusters, or --label, and --for and --comment",
      isComplete: (names, flags) =>
        [...names, ...(flags.label ?? [])].length > 0 &&
        flags.for !== undefined &&
        flags.comment !== undefined,
    },
  ],
  ["list", { run: list, needs: "no arguments", isComplete: (args) => args.length === 0 }],
  [
    "extend",
    {
      run: (job) => change(job, { extend: { id: job.args[0], for: job.flags.for } }),
      needs: "one id and --for",
      isComplete: (ids, flags) => ids.length === 1 && flags.for !== undefined,
    },
  ],
  [
    "end",
    {
      run: (job) => change(job, { end: { id: job.args[0] } }),
      needs: "one id",
      isComplete: (ids) => ids.length === 1,
    },
  ],
]);

/** Starts, lists, extends or ends planned work at one exporter or several. Exit code 1: one of them did not do it. */
export async function maintenance(
  flags: MaintenanceFlags,
  io: Io,
  given: readonly string[],
): Promise<ExitCode> {
  const [name = "", ...rest] = given;
  const action = ACTIONS.get(name);
  if (action === undefined) return fail(io, `error: expected ${[...ACTIONS.keys()].join(", ")}`, 2);
  if (!action.isComplete(rest, flags)) return fail(io, `error: ${name} needs ${action.needs}`, 2);
  const exporters: RunningExporter[] = [];
  for (const url of flags.url ?? [DEFAULT_URL]) {
    const exporter = await openExporter({ ...flags, url }, io);
    if (typeof exporter === "number") return exporter;
    exporters.push(exporter);
  }
  try {
    return await action.run({ flags, io, exporters, args: rest });
  } finally {
    for (const exporter of exporters) exporter.close();
  }
}

/** A window has the same id at all exporters. It starts nowhere if one of them is not there or lacks a name. */
async function start(job: Job): Promise<ExitCode> {
  const { flags, io, exporters, args: names } = job;
  const fleets: FleetDocument[] = [];
  for (const exporter of exporters) {
    const answer = await exporter.fleet();
    if (!answer.ok) return fail(io, `${answer.message}\nnothing is started`, 2);
    const fleet = withNames(answer.value, names, exporter.url, io);
    if (typeof fleet === "number") return fleet;
    fleets.push(fleet);
  }
  const members = fleets.flatMap(({ clusters }) => clusters.flatMap(({ appliances }) => appliances));
  const known = new Set(members.map(({ name }) => name));
  const { id = randomBytes(8).toString("hex"), label = [] } = flags;
  return change(job, {
    start: {
      id,
      appliances: names.filter((name) => known.has(name)),
      clusters: names.filter((name) => !known.has(name)),
      labels: Object.fromEntries(
        label.map((each) => [each.replace(/=.*/s, ""), each.replace(/^[^=]*=/, "")]),
      ),
      for: flags.for,
      comment: flags.comment,
    },
  });
}

/** Says what an exporter did, or why it did not. */
type Outcome = { readonly url: string } & (
  | {
      readonly window: WindowDocument;
      readonly remaining?: readonly string[] | undefined;
      readonly early?: string | undefined;
    }
  | { readonly error: string }
);

async function change({ flags, io, exporters }: Job, body: object): Promise<ExitCode> {
  const outcomes: Outcome[] = [];
  for (const exporter of exporters) outcomes.push(await changeAt(exporter, body));
  const [done, failed] = [
    outcomes.flatMap((each) => ("window" in each ? each : [])),
    outcomes.flatMap((each) => ("error" in each ? each : [])),
  ];
  const nowMs = io.clock.wallMs();
  if (flags.output === "json") io.out(toJson({ exporters: outcomes }));
  else if ("end" in body) for (const each of done) io.out(endReport(each, exporters.length > 1));
  else if (done.length > 0) io.out(windowTable(done, nowMs, io.hasColor));
  for (const { error } of failed) io.err(`${error}\n`);
  const [first] = done;
  if (first !== undefined && failed.length > 0) {
    const [here, missing] = [done, failed].map((some) => listedBriefly(some.map(({ url }) => url)));
    const only = [
      "start" in body ? `--id=${first.window.id}` : "",
      ...failed.map(({ url }) => `--url=${url}`),
    ];
    io.err(
      `done at ${here}, not at ${missing}; to repeat it there, run the command with ${only.join(" ").trim()} only\n`,
    );
  }
  return failed.length > 0 ? 1 : 0;
}

async function changeAt(exporter: RunningExporter, body: object): Promise<Outcome> {
  const { url } = exporter;
  const before = "end" in body ? await exporter.windows() : undefined;
  const answer = await exporter.post(MAINTENANCE, body, TIMEOUT_MS);
  if (!answer.ok) return { url, error: answer.message };
  const changed = parseAs(changedSchema, answer.value);
  if (changed === undefined) return { url, error: `${url}: ${NO_EXPORTER}` };
  const known = before?.ok === true ? before.value.find(({ id }) => id === changed.window.id) : undefined;
  const early = known && duration(Date.parse(known.end) - Date.parse(changed.window.end));
  return { url, ...changed, ...(early === undefined ? {} : { early }) };
}

function endReport(
  { url, window, remaining = [], early }: Extract<Outcome, { window: unknown }>,
  isOneOfMany: boolean,
): string {
  const where = isOneOfMany ? `${url}: ` : "";
  const when = early === undefined ? "" : ` ${early} early`;
  const rest = remaining.map((sentence) => `  ${sentence}\n`).join("");
  const verdict = remaining.length === 0 ? "all is well" : `${count(remaining.length, "problem")} left`;
  return printable(`${where}${window.id} ended${when}: ${verdict}\n${rest}`);
}

async function list({ flags, io, exporters }: Job): Promise<ExitCode> {
  const found: { readonly url: string; readonly windows: readonly WindowDocument[] }[] = [];
  let exitCode: ExitCode = 0;
  for (const exporter of exporters) {
    const answer = await exporter.windows();
    if (answer.ok) found.push({ url: exporter.url, windows: answer.value });
    else exitCode = fail(io, answer.message);
  }
  const rows = found.flatMap(({ url, windows }) => windows.map((window) => ({ url, window })));
  if (flags.output === "json") io.out(toJson({ exporters: found }));
  else if (rows.length > 0) io.out(windowTable(rows, io.clock.wallMs(), io.hasColor));
  else if (found.length > 0) io.out("no work is planned\n");
  return exitCode;
}

function windowTable(
  all: readonly { readonly url: string; readonly window: WindowDocument }[],
  nowMs: number,
  hasColor: boolean,
): string {
  const rows = all.map(({ url, window }): TableRow => {
    const { id, appliances, clusters, labels, end, by = window.origin, comment } = window;
    const pairs = Object.entries(labels).map((pair) => pair.join("="));
    const endMs = Date.parse(end);
    const state =
      endMs > nowMs
        ? ({ text: `ends ${relativeTime("next", endMs, nowMs)}`, color: "yellow" } as const)
        : ({ text: `ended ${relativeTime("ago", endMs, nowMs)}`, color: "green" } as const);
    return [
      id,
      state,
      absoluteTime(end),
      listed([...clusters, ...appliances, ...pairs], 5),
      by,
      comment,
      url,
    ];
  });
  return formatTable(["id", "state", "end", "work on", "by", "comment", "exporter"], rows, hasColor);
}
