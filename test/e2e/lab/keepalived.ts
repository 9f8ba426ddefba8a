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
}

/** The keepalived of one node. */
export interface Keepalived {
  start(): Promise<void>;
  /** Ends it without a word. The addresses stay on the interface, as the kernel has them. */
  crash(): Promise<void>;
  /** Changes the effective priority while it runs, by this much. */
  shiftPriority(by: number): Promise<void>;
}

interface KeepalivedOptions {
  readonly namespace: string;
  readonly folder: string;
  readonly instances: readonly VrrpInstance[];
}

/** Where the files of a node's keepalived are, in its folder. */
export const KEEPALIVED_FILES = { pid: "keepalived.pid", vrrpPid: "vrrp.pid", dumps: "." } as const;
const SHIFT = "priority-shift";

/** A keepalived that is not running yet. */
export function createKeepalived(
  sandbox: Sandbox,
  { namespace, folder, instances }: KeepalivedOptions,
): Keepalived {
  let running: Running | undefined;
  const path = (name: string) => join(folder, name);
  return {
    start: async () => {
      await writeFile(path("keepalived.conf"), configOf(instances, path(SHIFT)));
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
      ];
      const command = ["keepalived", "--dont-fork", "--log-console", "--no-syslog", "--vrrp", ...files];
      const place = { namespace };
      running = start(sandbox, command, { name: "keepalived", place, folder, env: { TMPDIR: folder } });
      await running.printed(/Startup complete/);
    },
    crash: async () => {
      const vrrp = (await readFile(path(KEEPALIVED_FILES.vrrpPid), "utf8")).trim();
      // The main process would start the VRRP process anew, and the VRRP process would say goodbye without the main one.
      await running?.signal("SIGSTOP");
      await sandbox.run("lab", ["kill", "-KILL", vrrp]);
      await running?.end("SIGKILL");
    },
    shiftPriority: (by) => writeFile(path(SHIFT), String(by)),
  };
}

// Adverts every 0.1 s need version 3. Real time, because a process that waits 0.3 s for a busy core is a dead master.
function configOf(instances: readonly VrrpInstance[], shiftFile: string): string {
  return `global_defs {
  vrrp_version 3
  vrrp_rt_priority 50
}
track_file shift {
  file "${shiftFile}"
  weight 1
}
${instances.map(instanceOf).join("")}`;
}

function instanceOf(instance: VrrpInstance): string {
  const { name, device, vhid, priority, vips, excluded = [], tracked = [] } = instance;
  return `vrrp_instance ${name} {
  state BACKUP
  interface ${device}
  virtual_router_id ${vhid}
  priority ${priority}
  advert_int 0.1
${block("virtual_ipaddress", vips)}${block("virtual_ipaddress_excluded", excluded)}${block("track_interface", tracked)}  track_file {
    shift
  }
}
`;
}

function block(name: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `  ${name} {\n    ${lines.join("\n    ")}\n  }\n`;
}
