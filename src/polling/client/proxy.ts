import type { Socket } from "node:net";
import { ConnectionError } from "./connection-error.ts";

const HEAD_LIMIT_BYTES = 16 * 1024;

export interface Proxy {
  readonly host: string;
  readonly port: number;
  /** The value of Proxy-Authorization, where the URL holds credentials. */
  readonly authorization: string | undefined;
}

/** Reads `http://[user:password@]host[:port]`; the port is 80 by default. */
export function parseProxyUrl(text: string): Proxy {
  const url = new URL(text);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 80),
    authorization: credentials === ":" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

/**
 * Asks the proxy on a connected socket for a tunnel to `target` (`host:port`), and calls back once with an error of
 * reason `proxy` or with nothing. Bounded in size; time is the caller's, who destroys the socket.
 *
 * @see RFC 9110, 9.3.6
 */
export function openTunnel(
  socket: Socket,
  target: string,
  { authorization }: Proxy,
  callback: (error?: ConnectionError) => void,
): void {
  let head = Buffer.alloc(0);

  function finish(problem?: string, cause?: unknown): void {
    socket.off("data", onData).off("error", onError).off("close", onClose);
    // Whoever takes the socket over reads from here on; without this it would go on flowing to nobody.
    socket.pause();
    callback(problem === undefined ? undefined : new ConnectionError("proxy", problem, cause));
  }
  function onData(chunk: Buffer): void {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end >= 0) {
      const rest = head.subarray(end + 4);
      finish(refusal(head.subarray(0, end).toString("latin1")));
      if (rest.length > 0) socket.unshift(rest);
    } else if (head.length > HEAD_LIMIT_BYTES) finish("the proxy's answer to CONNECT has no end");
  }
  function onError(error: Error): void {
    finish("the connection to the proxy broke", error);
  }
  function onClose(): void {
    finish("the proxy closed the connection before it answered CONNECT");
  }

  socket.on("data", onData).on("error", onError).on("close", onClose);
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`);
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
}

function refusal(head: string): string | undefined {
  const status = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head)?.[1];
  if (status === undefined) return "the proxy does not answer CONNECT in HTTP";
  return status.startsWith("2") ? undefined : `the proxy answered CONNECT with status ${status}`;
}
