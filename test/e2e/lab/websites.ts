import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { start, type Running } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";

/** A website: an nginx of its own, which answers every request in the same way. */
export interface Website {
  readonly id: number;
  readonly name: string;
  readonly port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Answers 503 to an address from now on, or 200 again. */
  setMaintenance(isOn: boolean, address: string): Promise<void>;
  /** Connections are still taken, by the kernel; nobody answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

interface WebsiteOptions extends Pick<Website, "id" | "name"> {
  readonly namespace: string;
  readonly folder: string;
}

/** A website that is not running yet. */
export function createWebsite(sandbox: Sandbox, { id, name, namespace, folder }: WebsiteOptions): Website {
  const port = 8000 + id;
  const base = join(folder, name);
  let running: Running | undefined;
  return {
    id,
    name,
    port,
    start: async () => {
      await writeFile(`${base}.conf`, configOf(base, port));
      const command = ["nginx", "-p", folder, "-c", `${base}.conf`, "-e", "stderr"];
      running = start(sandbox, command, { name, place: { namespace }, folder });
      await running.printed(/using the "epoll"/);
    },
    stop: async () => running?.end("SIGQUIT"),
    setMaintenance: (isOn, address) =>
      isOn ? writeFile(`${base}.503${address}`, "") : rm(`${base}.503${address}`),
    freeze: async () => running?.signal("SIGSTOP"),
    thaw: async () => running?.signal("SIGCONT"),
  };
}

// One process, without workers, that none of them outlives it.
function configOf(base: string, port: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
master_process off;
pid ${base}.pid;
error_log stderr notice;
events {}
http {
  access_log off;
${temporary.map((kind) => `  ${kind}_temp_path ${base}-${kind};`).join("\n")}
  server {
    listen ${port};
    if (-f ${base}.503$remote_addr) {
      return 503;
    }
    return 200;
  }
}
`;
}
