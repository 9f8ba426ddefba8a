import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { start, type Running } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";

/** A VRRP instance of a node. */
export interface VrrpInstance {
  readonly name: string;
  readonly device: string;
  readonly vhid: number;
  readonly priority: number;
  /** With the length of their prefixes, as are the others. */
  readonly vips: readonly string[];
  /** Addresses that adverts do not name. */
  readonly excluded?: readonly string[];
  /** More devices: while one of them is down, the instance is in FAULT. */
  readonly tracked?: readonly string[];
  /** Default: 0.1. */
  readonly advertSeconds?: number;
  /** While this file is there, a script fails, and the priority is lower by `weight`. */
  readonly failing?: { readonly file: string; readonly weight: number };
  /** More settings of its own, each a line. */
  readonly more?: readonly string[];
}

/** The keepalived of one node. */
export interface Keepalived {
  start(): Promise<void>;
  /** Ends it without a word. The addresses stay on the interface, as the kernel has them. */
  crash(): Promise<void>;
  /** Ends it as a stop of its service does. */
  stop(): Promise<void>;
  /** Gives all instances another priority by a reload. */
  setPriority(priority: number): Promise<void>;
  /** Changes the effective priority while it runs, by this much. */
  shiftPriority(by: number): Promise<void>;
}

interface KeepalivedOptions {
  readonly namespace: string;
  readonly folder: string;
  readonly instances: readonly VrrpInstance[];
  /** The path of the program; default: the machine's. */
  readonly program?: string;
}

/** Where the files of a node's keepalived are, in its folder. */
export const KEEPALIVED_FILES = { pid: "keepalived.pid", vrrpPid: "vrrp.pid", dumps: "." } as const;
const ADVERT_SECONDS = 0.1;
const SHIFT = "priority-shift";

/** A keepalived that is not running yet. */
export function createKeepalived(
  sandbox: Sandbox,
  { namespace, folder, instances, program = "keepalived" }: KeepalivedOptions,
): Keepalived {
  let running: Running | undefined;
  const path = (name: string) => join(folder, name);
  const writeConfig = (all: readonly VrrpInstance[]) =>
    writeFile(path("keepalived.conf"), configOf(all, path(SHIFT)));
  return {
    start: async () => {
      await writeConfig(instances);
      await writeFile(path(SHIFT), "0");
      // What a crash left would make it believe that it runs already, and end with exit code 0.
      await Promise.all(
        [KEEPALIVED_FILES.pid, KEEPALIVED_FILES.vrrpPid].map((file) => rm(path(file), { force: true })),
      );
      const files = [
        "-f",
        path("keepalived.conf"),
        "-p",
        path(KEEPALIVED_FILES.pid),
        "-r",
        path(KEEPALIVED_FILES.vrrpPid),
        // keepalived 2.3 locks that of a process which does not run, too.
        "-b",
        path("bfd.pid"),
      ];
      const command = [program, "--dont-fork", "--log-console", "--no-syslog", "--vrrp", ...files];
      const place = { namespace };
      running = start(sandbox, command, { name: "keepalived", place, folder, env: { TMPDIR: folder } });
      await running.printed(/Startup complete/);
    },
    crash: async () => {
      const ending = running;
      if (ending === undefined) return;
      running = undefined;
      const vrrp = (await readFile(path(KEEPALIVED_FILES.vrrpPid), "utf8")).trim();
      // The main process would start the VRRP process anew, and the VRRP process would say goodbye without the main one.
      await ending.signal("SIGSTOP");
      await sandbox.run("lab", ["kill", "-KILL", vrrp]);
      await ending.end("SIGKILL");
    },
    stop: async () => {
      await running?.end();
      running = undefined;
    },
    setPriority: async (priority) => {
      await writeConfig(instances.map((instance) => ({ ...instance, priority })));
      await running?.signal("SIGHUP");
    },
    shiftPriority: (by) => writeFile(path(SHIFT), String(by)),
  };
}

// Adverts every 0.1 s need version 3, and real time, because a process that waits 0.3 s for a busy core is a dead master. With real time,
// the kernel kills keepalived 2.2.7 soon after a reload, as it exceeds a limit that the reload sets.
function configOf(instances: readonly VrrpInstance[], shiftFile: string): string {
  const isFast = instances.some(({ advertSeconds = ADVERT_SECONDS }) => advertSeconds === ADVERT_SECONDS);
  return `global_defs {
  vrrp_version 3
${isFast ? "  vrrp_rt_priority 50\n" : ""}}
track_file shift {
  file "${shiftFile}"
  weight 1
}
${instances.map(instanceOf).join("")}`;
}

function instanceOf(instance: VrrpInstance): string {
  const { name, device, vhid, priority, vips, excluded = [], tracked = [] } = instance;
  const { advertSeconds = ADVERT_SECONDS, failing, more = [] } = instance;
  return `${failing === undefined ? "" : scriptOf(name, failing)}vrrp_instance ${name} {
  state BACKUP
  interface ${device}
  virtual_router_id ${vhid}
  priority ${priority}
  advert_int ${advertSeconds}
${more.map((line) => `  ${line}\n`).join("")}${block("virtual_ipaddress", vips)}${block("virtual_ipaddress_excluded", excluded)}${block("track_interface", tracked)}${block("track_script", failing === undefined ? [] : [name])}  track_file {
    shift
  }
}
`;
}

function scriptOf(name: string, { file, weight }: NonNullable<VrrpInstance["failing"]>): string {
  return `vrrp_script ${name} {
  script "/usr/bin/test ! -e ${file}"
  interval 1
  fall 1
  rise 1
  weight -${weight}
}
`;
}

function block(name: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `  ${name} {\n    ${lines.join("\n    ")}\n  }\n`;
}
