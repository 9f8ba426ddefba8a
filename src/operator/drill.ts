import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { PlannedDocument } from "../exporter/document/schema.ts";
import { printable } from "../support/text.ts";
import { whoWorks } from "../support/user.ts";
import { absoluteTime, duration } from "../exporter/view/time.ts";
import { secondInUtc } from "../support/time-zone.ts";
import { instantOf } from "../exporter/judge/words.ts";
import { fail, type ExitCode, type Flags, type Io } from "../exporter/command/command.ts";
import {
  courseAfter,
  nextStage,
  planDrill,
  type Course,
  type Drill,
  type DrillStage,
} from "./drill-course.ts";
import { runCommand, type DrillCommand } from "./drill-command.ts";
import { drillReport, FORMATS, REACHED, type DrillFacts } from "./drill-report.ts";
import { MAINTENANCE, openExporter, type RunningExporter } from "./fetch-fleet.ts";

export interface DrillFlags extends Pick<Flags, "url" | "http.config.file"> {
  /** The duration as text, and in milliseconds. */
  readonly for: { readonly text: string; readonly ms: number };
  readonly comment?: string;
  readonly command?: string;
  readonly bothWays?: boolean;
  readonly acceptLosses?: boolean;
  readonly despite?: readonly string[];
  readonly output: keyof typeof FORMATS;
}

/** After a signal, the process ends within eight seconds: the command first, then the window. */
const POST_TIMEOUT_MS = 5000;
/** An exporter is lost if it does not answer for this long. */
const LOST_MS = 30_000;
/** The exit code of a command that SIGHUP ends. */
const HUNG_UP = 129;

/** Says what the operator has to do, so that the next stage is reached. */
const ORDERS: Readonly<Record<DrillStage, (drill: Drill) => string>> = {
  taken_over: ({ appliance }) => `Now let ${appliance} fail, or hand over.`,
  complete: ({ appliance }) => `Now let ${appliance} be a BACKUP again, if it is not yet.`,
  back: ({ appliance }) => `Now make ${appliance} MASTER again.`,
};

/**
 * Rehearses the loss of an appliance and writes a report. The drill changes nothing but planned work of the exporter, and looks at the
 * exporter every `everyMs`. Returns 0 if the drill passed, 1 if it failed or losses are predicted, and 2 if it could not begin.
 */
export async function drill(flags: DrillFlags, io: Io, name: string, everyMs = 1000): Promise<ExitCode> {
  const exporter = await openExporter({ ...flags, output: flags.output === "json" ? "json" : "table" }, io);
  if (typeof exporter === "number") return exporter;
  // When the terminal is closed, the command and the window have to end, too.
  const hungUp = new Promise<ExitCode>((resolve) => io.onReload(() => resolve(HUNG_UP)));
  const interrupted = Promise.race([io.interrupted, hungUp]);
  try {
    return await rehearse(flags, { ...io, interrupted }, name, { exporter, everyMs });
  } finally {
    exporter.close();
  }
}

interface Watched {
  readonly exporter: RunningExporter;
  readonly everyMs: number;
}

async function rehearse(flags: DrillFlags, io: Io, name: string, watched: Watched): Promise<ExitCode> {
  const { exporter, everyMs } = watched;
  const answer = await Promise.race([io.interrupted, exporter.fleet()]);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return fail(io, answer.message, 2);
  const fleet = answer.value;
  const { bothWays: isBothWays = false, acceptLosses: acceptsLosses = false, despite } = flags;
  const planned = planDrill(fleet, name, { isBothWays, acceptsLosses, despite });
  if (!planned.ok) return fail(io, printable(planned.message), planned.reason === "losses" ? 1 : 2);

  const acts: { readonly atMs: number; readonly text: string }[] = [];
  const act = (text: string): void => void acts.push({ atMs: io.clock.wallMs(), text });
  const { comment = `drill of ${name} by ${whoWorks(io.environment("SUDO_USER"))}` } = flags;
  const id = randomBytes(8).toString("hex");
  const start = {
    id,
    appliances: [name],
    for: flags.for.text,
    comment,
    drill: true,
    // An exporter of an earlier version does not know the key.
    ...(despite && { despite }),
  };
  act("The readiness was queried.");
  const askedMs = io.clock.wallMs();
  const started = await exporter.post(MAINTENANCE, { start }, POST_TIMEOUT_MS);
  const answeredMs = io.clock.wallMs();
  if (!started.ok) {
    // The window may have begun although the answer to its start was lost.
    await exporter.post(MAINTENANCE, { end: { id } }, POST_TIMEOUT_MS);
    return fail(io, started.message, 2);
  }
  act("The window of the drill began.");
  let command: DrillCommand | undefined;
  if (flags.command !== undefined) {
    // The exporter polls often from now on. Before the first such poll, a failure would seem to begin at an older poll.
    const interrupted = await Promise.race([io.interrupted, setTimeout(2 * everyMs)]);
    if (interrupted === undefined) command = runCommand(flags.command, io, act);
  }
  let seen: Seen;
  try {
    seen = await watch(planned.course, { ...watched, id, forMs: flags.for.ms, io });
  } finally {
    await command?.end();
  }
  io.progress("");
  const ended = await exporter.post(MAINTENANCE, { end: { id } }, POST_TIMEOUT_MS);
  if (ended.ok) act("The window of the drill was ended.");
  else if (seen.ending !== "window_over") {
    act(`The window of the drill could not be ended; it ends by itself after ${flags.for.text}.`);
    io.err(`${ended.message}\n`);
  }
  const report = drillReport({
    ...seen,
    acts,
    window: { id, comment, by: seen.window?.by },
    exporter: { url: exporter.url, version: fleet.exporter.version },
    version: io.version,
    lookMs: everyMs,
    clocks: seen.window && { askedMs, answeredMs, exporterMs: Date.parse(seen.window.begin) },
  });
  io.out(FORMATS[flags.output](report));
  if (seen.signal !== undefined) return seen.signal;
  return report.verdict === "pass" ? 0 : 1;
}

type Seen = Pick<DrillFacts, "course" | "ending"> & {
  /** The window of the drill, as the exporter showed it. */
  readonly window: PlannedDocument | undefined;
  /** The exit code of the signal that interrupted the drill. */
  readonly signal?: ExitCode;
};

/** Polls the exporter until the drill is over, and prints the next orders and the stages that were reached. */
async function watch(
  initial: Course,
  { exporter, everyMs, id, forMs, io }: Watched & { id: string; forMs: number; io: Io },
): Promise<Seen> {
  const { clock } = io;
  const { drill: planned } = initial;
  const say = (text: string): void =>
    io.err(printable(`${absoluteTime(instantOf(clock.wallMs()))}  ${text}\n`));
  let course = initial;
  let window: PlannedDocument | undefined;
  const beginMs = clock.monotonicMs();
  let latestMs = beginMs;
  const until = secondInUtc(clock.wallMs() + forMs);
  say(planned.readiness.summary);
  say(
    `The drill waits until ${until} at most. Ctrl-C ends it, its command and its window, and the report is still written.`,
  );
  say(ORDERS.taken_over(planned));
  for (;;) {
    const answer = await Promise.race([io.interrupted, exporter.fleet()]);
    if (typeof answer === "number") return { course, window, ending: "interrupted", signal: answer };
    const nowMs = clock.monotonicMs();
    if (answer.ok) {
      latestMs = nowMs;
      const before = course;
      course = courseAfter(before, answer.value, clock.wallMs());
      for (const { stage } of course.reached.slice(before.reached.length)) say(REACHED[stage](planned));
      const stage = nextStage(course);
      if (stage === undefined) return { course, window, ending: "done" };
      if (stage !== nextStage(before)) say(ORDERS[stage](planned));
      const running = answer.value.planned.find((each) => each.id === id);
      // The exporter may not show yet a window that began just now.
      if (running === undefined && window !== undefined) return { course, window, ending: "window_over" };
      window = running;
    }
    if (nowMs - beginMs >= forMs) return { course, window, ending: "window_over" };
    if (nowMs - latestMs >= LOST_MS) return { course, window, ending: "exporter_lost" };
    const waited = duration(nowMs - beginMs);
    io.progress(
      printable(`${waited}, until ${until}: ${answer.ok ? (course.lacks ?? "almost") : answer.message}`),
    );
    await Promise.race([io.interrupted, setTimeout(everyMs)]);
  }
}
