import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Stage } from "./stage.ts";

/** Something that serves on 127.0.0.1. */
interface Served {
  /** `http://127.0.0.1:port` */
  readonly url: string;
}

/**
 * A connection to the exporter on which a request was answered, so that it is accepted and may be idle for long; and what
 * came over it since.
 */
export interface Caller {
  readonly socket: Socket;
  readonly localPort: number;
  received(): string;
}

async function call(stage: Stage, { url }: Served): Promise<Caller> {
  const socket = connect(portOf({ url }), "127.0.0.1");
  stage.cleanUp(() => socket.destroy());
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.write("GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise<void>((resolve) => {
    socket.once("close", resolve);
    socket.on("data", () => isComplete({ received: () => text }) && resolve());
  });
  text = "";
  return { socket, localPort: socket.localPort ?? 0, received: () => text };
}

export function callTimes(stage: Stage, exporter: Served, times: number): Promise<readonly Caller[]> {
  return Promise.all(Array.from({ length: times }, () => call(stage, exporter)));
}

function portOf({ url }: Served): number {
  return Number(new URL(url).port);
}

/** A port as the kernel's table writes it. */
function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** How many of the callers' connections the exporter's side still holds open, as the kernel tells it. */
export function countEstablished(callers: readonly Caller[], { url }: Served): number {
  const table = readFileSync("/proc/net/tcp", "utf8");
  const lines = callers.map(({ localPort }) => `:${hex(portOf({ url }))} 0100007F:${hex(localPort)} 01 `);
  return lines.filter((line) => table.includes(line)).length;
}

export function statusOf({ received }: Caller): string {
  return received().split("\r\n")[0] ?? "";
}

/** Whether the whole body has come, as its length says. */
export function isComplete({ received }: Pick<Caller, "received">): boolean {
  const [head = "", body = ""] = received().split("\r\n\r\n");
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  return length !== undefined && body.length === Number(length);
}

export function bodyOf({ received }: Caller): string {
  return received().split("\r\n\r\n")[1] ?? "";
}
