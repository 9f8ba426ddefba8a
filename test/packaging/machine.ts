import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";
import { eventually } from "../support/eventually.ts";
import { obstacleTo } from "../support/obstacle.ts";
import { toolPath } from "../support/tool.ts";
import { createRoot, enter, ENV, firstChild, packagePath } from "./root.ts";

/** A Debian 12 with the package (`/srv/package.deb`), in namespaces of its own, that systemd has booted. Its address is 192.0.2.11. */
export interface Machine {
  /** Its root file system, without what it mounts. */
  readonly folder: string;
  /** Runs a command as root; returns its exit code and output. */
  exec(script: string): ReturnType<typeof enter>;
  /** Returns the output of a command, which must succeed. */
  run(script: string): Promise<string>;
}

const NAMESPACES = ["--pid", "--fork", "--cgroup", "--mount", "--net", "--uts", "--ipc"];

/**
 * Starts the machine in a control group of its own. The end of stdin, which comes however the test ends, switches the machine off.
 * The kernel ends its processes with the first one.
 */
const HOLD = `
mount -t cgroup2 cgroup2 "$0/mnt"
group="$0/mnt/appliance-exporter-$$"
mkdir "$group"
(echo 0 >"$group/cgroup.procs"; exec unshare ${NAMESPACES.join(" ")} sh -ec "$1" "$0") &
read -r _ || kill -KILL $(cat "/proc/$!/task/$!/children") || :
wait
find "$group" -depth -type d -exec rmdir {} +`;

/** Mounts what systemd expects of a container manager, and becomes systemd. Kernel settings are those of this machine: read-only. */
const BOOT = `
ip link set lo up
ip link add eth0 up type veth peer name other
ip link set other up
ip address add 192.0.2.11/24 dev eth0
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
  touch dev/$name
  mount --bind /dev/$name dev/$name
done
ln -s pts/ptmx dev/ptmx
: >etc/machine-id
pivot_root . mnt
umount --lazy mnt
# systemd passes credentials to services in mounts that it shares with itself.
mount --make-rshared /
exec env -i container=lxc /lib/systemd/systemd systemd.mask=getty.target systemd.mask=systemd-logind.service`;

const obstacle = obstacleTo("systemd as the first process of a machine", () =>
  execFileSync(toolPath("unshare"), [...NAMESPACES, "mount", "-t", "cgroup2", "cgroup2", tmpdir()]),
);
const root = await createRoot();
if (obstacle === "") {
  copyFileSync(await packagePath("_amd64.deb"), join(root.folder, "srv/package.deb"));
  await root.run("dpkg --install /srv/package.deb");
}

/** Tests that get a machine; those of a file boot the same files, one after the other. */
export const test = base.extend<{ readonly machine: Machine }>({
  machine: async ({ skip }, use) => {
    skip(obstacle !== "", obstacle);
    const child = spawn(toolPath("unshare"), ["--mount", "sh", "-ec", HOLD, root.folder, BOOT], {
      env: ENV,
      stdio: ["pipe", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    const pid = await eventually(async () => {
      const first = firstChild(firstChild(child.pid));
      const { output } = await enter(first, ["systemctl", "is-system-running", "--wait"]);
      if (output !== "running\n") throw new Error(`${output}${errors}`);
      return first;
    });
    const exec = (script: string) => enter(pid, ["sh", "-ec", script]);
    await use({
      folder: root.folder,
      exec,
      run: async (script) => {
        const { code, output } = await exec(script);
        if (code !== 0) throw new Error(`${script}: ${output}`);
        return output;
      },
    });
    child.stdin.end();
    await once(child, "close");
  },
});
