import { join } from "node:path";
import { expect } from "vitest";
import { readJournal } from "../history/journal/claims.ts";
import { eventually } from "../support/eventually.ts";
import { answer, LIST } from "./behaviours.ts";
import { startProgram, type Exit, type Program, type ProgramOptions } from "./program.ts";
import { entry, EVERY_SECOND, type Stage } from "./stage.ts";

export const BROKEN = "the journal cannot be written";
export const REPAIRED = "the journal is written again";

/** A cluster of the appliances `a` and `b`, and a folder for its exporters. */
export interface Scene {
  readonly folder: string;
  /** The folder of the journal. */
  readonly journal: string;
  start(options?: ProgramOptions): Promise<Program>;
  /** The exporter in this process, which starts sooner: where nothing depends on how a process begins and ends. */
  startHere(journal: string): Promise<Running>;
  /** The other appliance becomes MASTER. Waits until the exporter has seen it. */
  failOver(exporter: Running): Promise<void>;
}

/** An exporter, in a process of its own or not. */
export type Running = Pick<Program, "url" | "log" | "scrape">;

/** `alone`: further keys of an appliance outside of the cluster. */
export async function setScene(
  stage: Stage,
  {
    alone,
    files = {},
  }: {
    readonly alone?: Readonly<Record<string, unknown>>;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Promise<Scene> {
  let master = "a";
  const server = await stage.server(({ socket, onRequest }) =>
    onRequest(({ path }) =>
      socket.write(answer(path.startsWith(`/${master}/`) ? LIST : LIST.replace("MASTER", "BACKUP"))),
    ),
  );
  const appliances = ["a", "b"].map((name) =>
    entry(name, server, { base_url: `http://127.0.0.1:${server.port}/${name}` }),
  );
  const others = alone === undefined ? [] : [entry("c", server, alone)];
  const clusters = [{ name: "ams", appliances }];
  const config = { polling: { vrrp: EVERY_SECOND }, clusters, appliances: others };
  const folder = await stage.folder({ config, files });
  return {
    folder,
    journal: join(folder, "journal"),
    start: async (options) => {
      const program = await startProgram(folder, { args: ["--storage.path=journal"], ...options });
      stage.cleanUp(program.end);
      return program;
    },
    startHere: async (journal) => {
      const { url, log, scrape } = await stage.exporter({ config, files, journal });
      return { url, log: () => log.lines, scrape };
    },
    failOver: async (exporter) => {
      master = master === "a" ? "b" : "a";
      await eventually(async () =>
        expect((await exporter.scrape()).value("vrrp_group_master", { appliance: master })).toBe(1),
      );
    },
  };
}

/** The runs in a journal, and the masters of the group, one after the other. */
function storyIn(journal: string): readonly string[] {
  return readJournal(journal)
    .flatMap(({ kind, why, master }) => {
      if (kind === "run") return why === "day" ? [] : [`run ${why}`];
      return kind === "group" && master !== undefined ? [master] : [];
    })
    .filter((each, nth, all) => each !== all[nth - 1]);
}

export async function untilStory(journal: string, story: readonly string[]): Promise<void> {
  await eventually(() => expect(storyIn(journal)).toEqual(story));
}

/** The file of today. */
export function fileIn(journal: string): string {
  return join(journal, `${new Date().toISOString().slice(0, 10)}.jsonl`);
}

/** Waits until the metrics say that of the journal. */
export async function untilUp(exporter: Running, isUp: boolean): Promise<void> {
  await eventually(async () =>
    expect((await exporter.scrape()).value("appliance_exporter_storage_up")).toBe(Number(isUp)),
  );
}

/** What the log says of the journal, with details. */
export function saidBy({ log }: Running): readonly string[] {
  return log().flatMap(({ msg, detail = "" }) =>
    msg.includes("journal") ? [`${msg} ${detail}`.trim()] : [],
  );
}

/** Waits until the latest line of the log about the journal contains this. */
export async function untilSaid(exporter: Running, words: string): Promise<void> {
  await eventually(() => expect(saidBy(exporter).at(-1)).toContain(words));
}

/** Waits until each appliance was polled twice more. */
export async function expectPolls(exporter: Running): Promise<void> {
  const made = async () => (await exporter.scrape()).all("appliance_polls_total").map(({ value }) => value);
  const before = await made();
  await eventually(async () =>
    expect((await made()).every((value, nth) => value >= (before[nth] ?? 0) + 2)).toBe(true),
  );
}

/** Ends the program with SIGTERM. A program that takes more than eight seconds kills itself, so the exit says whether it was in time. */
export function terminate(program: Program): Promise<Exit> {
  program.kill("SIGTERM");
  return program.exit;
}

/** What the log says last of a process that could not end by itself. */
export const KILLED = {
  level: "error",
  msg: "fatal: the process cannot end by itself",
  detail: expect.stringMatching(/^after 8 s it still waits for FSReqPromise/),
};
