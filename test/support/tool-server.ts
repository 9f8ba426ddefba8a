import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChild } from "./child.ts";
import { closedPort } from "./fault-server.ts";
import { toolPath } from "./tool.ts";

/** A server that `scripts/install-test-tools.sh` installs, with a folder of its own. */
export interface ToolServer {
  /** `http://127.0.0.1:port`; it may not listen yet. */
  readonly url: string;
  readonly child: () => ChildProcess;
  /** Kills it, and starts it anew with the same address, folder and flags. */
  restart(): Promise<void>;
  /** Writes a file into its folder, in which it runs. */
  write(name: string, text: string): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Starts it with `--web.listen-address` and these flags, with these files in its folder. */
export async function startToolServer(
  command: string,
  flags: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<ToolServer> {
  const folder = await mkdtemp(join(tmpdir(), `${command}-`));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await Promise.all(Object.entries(files).map(([name, text]) => write(name, text)));
  const address = `127.0.0.1:${await closedPort()}`;
  const start = () =>
    spawn(toolPath(command), [...flags, `--web.listen-address=${address}`], { cwd: folder, stdio: "ignore" });
  let child = start();
  return {
    url: `http://${address}`,
    child: () => child,
    write,
    restart: async () => {
      await endChild(child);
      child = start();
    },
    stop: async () => {
      await endChild(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
