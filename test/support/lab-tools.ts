import { spawnSync } from "node:child_process";

import { findDebianTool, findWithoutService } from "./debian-tool.ts";

/** Whether a network of namespaces can be made here, with everything that is to run in it. */
export type LabTools = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Finds the programs of the end-to-end suite, or installs the packages that hold them, and tries to make a namespace. */
export function findLab(say: (message: string) => void): LabTools {
  const tools = [
    findDebianTool("ip", "iproute2", say),
    findDebianTool("setpriv", "util-linux", say),
    findWithoutService("keepalived", "keepalived", say),
    findWithoutService("nginx", "nginx", say),
    findWithoutService("prometheus", "prometheus", say),
    findWithoutService("prometheus-alertmanager", "prometheus-alertmanager", say),
  ];
  const reasons = tools.flatMap((tool) => (tool.ok ? [] : [tool.reason]));
  if (reasons.length > 0) return { ok: false, reason: reasons.join("; ") };
  const namespaces = ["--pid", "--fork", "--mount-proc", "--mount", "--net"];
  const { status, stderr } = spawnSync("unshare", [...namespaces, "true"], { encoding: "utf8" });
  return status === 0
    ? { ok: true }
    : { ok: false, reason: `no namespaces can be made here: ${stderr.trim()}` };
}
