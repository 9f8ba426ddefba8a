import { randomBytes } from "node:crypto";
import { changedSchema, type WindowDocument, type WindowsDocument } from "../exporter/maintenance/request.ts";
import type { FleetDocument } from "../exporter/document/schema.ts";
import { count, listed, listedBriefly, printable } from "../support/text.ts";
import { whoWorks } from "../support/user.ts";
import { absoluteTime, duration, relativeTime } from "../exporter/view/time.ts";
import { fail, isConfirmed, type ExitCode, type Flags, type Io } from "../exporter/command/command.ts";
import { MAINTENANCE, NO_EXPORTER, openExporter, parseAs, withNames } from "./fetch-fleet.ts";
import type { RunningExporter } from "./fetch-fleet.ts";
import { formatTable, toJson, type TableCell, type TableRow } from "../exporter/command/format.ts";

export interface MaintenanceFlags extends Pick<Flags, "http.config.file" | "output"> {
  readonly url?: readonly string[];
  readonly label?: readonly string[];
  readonly for?: string;
  readonly comment?: string;
  readonly id?: string;
  readonly despite?: readonly string[];
  readonly yes?: boolean;
}

const TIMEOUT_MS = 10_000;

type Exporters = readonly RunningExporter[];

/** Returns the exit code of each action: 1 if one of the exporters did not do it. */
async function atExporters(
  flags: MaintenanceFlags,
  io: Io,
  action: (exporters: Exporters) => Promise<ExitCode>,
): Promise<ExitCode> {
  const exporters: RunningExporter[] = [];
  try {
    for (const url of flags.url ?? [undefined]) {
      const exporter = await openExporter({ ...flags, url }, io);
      if (typeof exporter === "number") return exporter;
      exporters.push(exporter);
    }
    return await action(exporters);
  } finally {
    for (const exporter of exporters) exporter.close();
  }
}

/** Starts a window, which has the same id at all exporters. Starts none if an exporter cannot be reached or does not know a name. */
export async function startWork(
  flags: MaintenanceFlags,
  io: Io,
  names: readonly string[],
): Promise<ExitCode> {
  const { id = randomBytes(8).toString("hex"), label = [], for: lasting, despite } = flags;
  const { comment = `by ${whoWorks(io.environment("SUDO_USER"))}` } = flags;
  return atExporters(flags, io, async (exporters) => {
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
    const [appliances, clusters] = [true, false].map((isMember) =>
      names.filter((name) => known.has(name) === isMember),
    );
    const labels = Object.fromEntries(
      label.map((each) => [each.replace(/=.*/s, ""), each.replace(/^[^=]*=/, "")]),
    );
    return change(flags, io, exporters, {
      // An exporter of an earlier version does not know the key.
      start: { id, appliances, clusters, labels, for: lasting, comment, ...(despite && { despite }) },
    });
  });
}

export async function extendWork(flags: MaintenanceFlags, io: Io, id: string): Promise<ExitCode> {
  return atExporters(flags, io, async (exporters) => {
    const refusal = await refusalOf("extend", id, flags, io, exporters);
    return refusal ?? change(flags, io, exporters, { extend: { id, for: flags.for } });
  });
}

export async function endWork(flags: MaintenanceFlags, io: Io, id: string): Promise<ExitCode> {
  return atExporters(flags, io, async (exporters) => {
    const refusal = await refusalOf("end", id, flags, io, exporters);
    return refusal ?? change(flags, io, exporters, { end: { id } });
  });
}

/**
 * Asks before a window is changed that is not known to be this user's, unless `--yes` is given. Returns the exit code if it is not to be
 * changed; `undefined` if it is, or if no exporter has it.
 */
async function refusalOf(
  what: "end" | "extend",
  id: string,
  { yes: isAccepted = false }: MaintenanceFlags,
  io: Io,
  exporters: Exporters,
): Promise<ExitCode | undefined> {
  if (isAccepted) return undefined;
  const all = await Promise.all(
    exporters.map(async ({ user, windows }) => ({ user, answer: await windows() })),
  );
  const failed = all.find(
    ({ answer }) => !answer.ok || answer.value.windows.some((each) => each.id === id),
  )?.answer;
  // Nobody knows whose it is.
  if (failed?.ok === false)
    return fail(io, `${failed.message}\nnothing is changed; --yes changes it all the same`, 1);
  const others = all.flatMap(({ user, answer }) => {
    const window = answer.ok ? answer.value.windows.find((each) => each.id === id) : undefined;
    const isOver = window !== undefined && Date.parse(window.end) <= io.clock.wallMs();
    const isOwn = user !== undefined && user === window?.by;
    return window === undefined || isOver || isOwn ? [] : window;
  });
  const [window] = others;
  if (window === undefined) return undefined;
  const { by = "the configuration", end, comment } = window;
  const whose = `the window ${id} until ${absoluteTime(end)} is of ${by} (${comment})`;
  if (await isConfirmed(io, printable(`${whose}. ${what === "end" ? "End" : "Extend"} it?`)))
    return undefined;
  return fail(io, printable(`${whose}: it stays; --yes changes it without a question`));
}

export async function listWork(flags: MaintenanceFlags, io: Io): Promise<ExitCode> {
  return atExporters(flags, io, (exporters) => show(flags, io, exporters));
}

/** The result of a change at an exporter, or the reason of its failure. */
type ChangeResult = { readonly url: string } & (
  | {
      readonly window: WindowDocument;
      readonly remaining?: readonly string[] | undefined;
      readonly early?: string | undefined;
    }
  | { readonly error: string }
);

async function change(
  flags: MaintenanceFlags,
  io: Io,
  exporters: Exporters,
  body: object,
): Promise<ExitCode> {
  const outcomes: ChangeResult[] = [];
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

async function changeAt(exporter: RunningExporter, body: object): Promise<ChangeResult> {
  const { url } = exporter;
  const before = "end" in body ? await exporter.windows() : undefined;
  const answer = await exporter.post(MAINTENANCE, body, TIMEOUT_MS);
  if (!answer.ok) return { url, error: answer.message };
  const changed = parseAs(changedSchema, answer.value);
  if (changed === undefined) return { url, error: `${url}: ${NO_EXPORTER}` };
  const known =
    before?.ok === true ? before.value.windows.find(({ id }) => id === changed.window.id) : undefined;
  const early = known && duration(Date.parse(known.end) - Date.parse(changed.window.end));
  return { url, ...changed, ...(early === undefined ? {} : { early }) };
}

function endReport(
  { url, window, remaining, early }: Extract<ChangeResult, { window: unknown }>,
  isOneOfMany: boolean,
): string {
  const where = isOneOfMany ? `${url}: ` : "";
  const when = early === undefined ? "" : ` ${early} early`;
  const done = `${where}${window.id} ended${when}`;
  // A busy exporter does not report the remaining problems.
  if (remaining === undefined) return printable(`${done}\n`);
  const rest = remaining.map((sentence) => `  ${sentence}\n`).join("");
  const verdict = remaining.length === 0 ? "all is well" : `${count(remaining.length, "problem")} left`;
  return printable(`${done}: ${verdict}\n${rest}`);
}

async function show(flags: MaintenanceFlags, io: Io, exporters: Exporters): Promise<ExitCode> {
  const found: ({ readonly url: string } & WindowsDocument)[] = [];
  let exitCode: ExitCode = 0;
  for (const exporter of exporters) {
    const answer = await exporter.windows();
    if (answer.ok) found.push({ url: exporter.url, ...answer.value });
    else exitCode = fail(io, answer.message);
  }
  const rows = found.flatMap(({ url, windows, coming = [] }) =>
    [...windows, ...coming].map((window) => ({ url, window })),
  );
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
    const { id, appliances, clusters, labels, begin, end, by = window.origin, comment } = window;
    const pairs = Object.entries(labels).map((pair) => pair.join("="));
    return [
      id,
      stateOf(window, nowMs),
      absoluteTime(begin),
      absoluteTime(end),
      listed([...clusters, ...appliances, ...pairs], 5),
      by,
      comment,
      url,
    ];
  });
  return formatTable(["id", "state", "begin", "end", "work on", "by", "comment", "exporter"], rows, hasColor);
}

function stateOf({ begin, end }: WindowDocument, nowMs: number): TableCell {
  const [beginMs, endMs] = [Date.parse(begin), Date.parse(end)];
  if (beginMs > nowMs) return { text: `begins ${relativeTime("next", beginMs, nowMs)}`, color: "green" };
  if (endMs > nowMs) return { text: `ends ${relativeTime("next", endMs, nowMs)}`, color: "yellow" };
  return { text: `ended ${relativeTime("ago", endMs, nowMs)}`, color: "green" };
}
