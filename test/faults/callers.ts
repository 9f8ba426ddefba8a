import { connect, type Socket } from "node:net";
import type { Stage } from "./stage.ts";

/**
 * A connection to the exporter on which a request was answered, so that it is accepted and may be idle for long; and what
 * came over it since.
 */
export interface Caller {
  readonly socket: Socket;
  received(): string;
}

/** Calls what serves at `url` on 127.0.0.1. */
async function call(stage: Stage, url: string): Promise<Caller> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  stage.cleanUp(() => socket.destroy());
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.write("GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise<void>((resolve) => {
    socket.once("close", resolve);
    socket.on("data", () => isComplete(text) && resolve());
  });
  text = "";
  return { socket, received: () => text };
}

export function callTimes(
  stage: Stage,
  { url }: { readonly url: string },
  times: number,
): Promise<readonly Caller[]> {
  return Promise.all(Array.from({ length: times }, () => call(stage, url)));
}

/** Whether the whole body has come, as its length says. */
function isComplete(text: string): boolean {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  return length !== undefined && body.length === Number(length);
}
