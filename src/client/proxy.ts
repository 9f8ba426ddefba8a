import type { Socket } from "node:net";
import type { ProxyConfig } from "../config/config.ts";
import { basicAuthorization } from "./credentials.ts";
import { ConnectionError } from "./errors.ts";

const HEAD_LIMIT_BYTES = 16 * 1024;

/**
 * Opens a tunnel to `target` (`host:port`) through the proxy on a connected socket. Limits the size of the answer; the
 * caller limits the time by destroying the socket.
 *
 * @throws ConnectionError of reason `proxy`
 * @see RFC 9110, 9.3.6
 */
export async function openTunnel(
  socket: Socket,
  target: string,
  { credentials }: ProxyConfig,
): Promise<void> {
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (credentials !== undefined) lines.push(`Proxy-Authorization: ${basicAuthorization(credentials)}`);
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const problem = refusal(await readHead(socket));
  if (problem !== undefined) throw new ConnectionError("proxy", problem);
}

/** Reads up to the blank line; puts the bytes after it back into the socket. */
function readHead(socket: Socket): Promise<string> {
  let received = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const detach = (): void => {
      socket.off("data", onData).off("error", onError).off("close", onClose).pause();
    };
    const fail = (message: string, cause?: unknown): void => {
      detach();
      reject(new ConnectionError("proxy", message, cause));
    };
    const onError = (error: Error): void => fail("the connection to the proxy broke", error);
    const onClose = (): void => fail("the proxy closed the connection before it answered CONNECT");
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf("\r\n\r\n");
      if (end < 0 && received.length > HEAD_LIMIT_BYTES) fail("the proxy's answer to CONNECT has no end");
      if (end < 0) return;
      detach();
      const rest = received.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      resolve(received.subarray(0, end).toString("latin1"));
    };
    socket.on("data", onData).on("error", onError).on("close", onClose);
  });
}

function refusal(head: string): string | undefined {
  const status = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head)?.[1];
  if (status === undefined) return "the proxy does not answer CONNECT in HTTP";
  return status.startsWith("2") ? undefined : `the proxy answered CONNECT with status ${status}`;
}
