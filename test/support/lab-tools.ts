import { spawnSync } from "node:child_process";

import type { DebianCommand, Tools } from "./debian-tool.ts";

/** Whether a network of namespaces can be made here, with everything that is to run in it. */
export type LabTools = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** The programs of the end-to-end suite. */
export const LAB_COMMANDS: readonly DebianCommand[] = [
  { command: "ip", packageName: "iproute2" },
  { command: "setpriv", packageName: "util-linux" },
  { command: "keepalived", packageName: "keepalived", service: "keepalived" },
  { command: "nginx", packageName: "nginx", service: "nginx" },
  { command: "prometheus", packageName: "prometheus", service: "prometheus" },
  {
    command: "prometheus-alertmanager",
    packageName: "prometheus-alertmanager",
    service: "prometheus-alertmanager",
  },
];

/** Whether all of them are there, and a namespace can be made. */
export function findLab(tools: Tools): LabTools {
  const reasons = LAB_COMMANDS.map(({ command }) => tools(command)).flatMap((tool) =>
    tool.ok ? [] : [tool.reason],
  );
  if (reasons.length > 0) return { ok: false, reason: reasons.join("; ") };
  const namespaces = ["--pid", "--fork", "--mount-proc", "--mount", "--net"];
  const { status, stderr } = spawnSync("unshare", [...namespaces, "true"], { encoding: "utf8" });
  return status === 0
    ? { ok: true }
    : { ok: false, reason: `no namespaces can be made here: ${stderr.trim()}` };
}
