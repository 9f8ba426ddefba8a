import { request } from "node:http";
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
export function openTunnel(socket: Socket, target: string, { credentials }: ProxyConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    const asking = request({
      method: "CONNECT",
      path: target,
      headers: {
        Host: target,
        ...(credentials && { "Proxy-Authorization": basicAuthorization(credentials) }),
      },
      createConnection: () => socket,
      maxHeaderSize: HEAD_LIMIT_BYTES,
    });
    asking.removeHeader("Connection");
    asking.once("connect", ({ statusCode = 0 }, _socket, rest) => {
      if (rest.length > 0) socket.unshift(rest);
      if (statusCode >= 200 && statusCode < 300) resolve();
      else reject(new ConnectionError("proxy", `the proxy answered CONNECT with status ${statusCode}`));
    });
    asking.once("error", (error) =>
      reject(new ConnectionError("proxy", "the proxy did not answer CONNECT", error)),
    );
    asking.end();
  });
}
