import type { Behaviour, Connection } from "../support/fault-server.ts";

/** What a healthy appliance answers: one interface. */
export const LIST =
  '{"carp0":{"advskew":"50","alias":[],"carppeer":"224.0.0.18","if":"eth1","netmask":"255.255.255.0","priority":"204","state_current":"MASTER","type":"1","vhid":"2","vip":"192.0.2.100"}}';

/** A healthy test of a website: `200` over HTTP. */
export const TEST = '"HTTP CONNECT ----- HTTP\\nHTTP\\/1.1 200 OK\\n\\n"';

const DRIP_MS = 100;
const CHUNK = Buffer.alloc(64 * 1024, " ");

/** A whole answer with a length. */
export function answer(body: string, status = "200 OK", headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status}`, "Content-Type: application/json", ...headers];
  return [...lines, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n");
}

/** Answers every request alike. */
export function answers(body: string, status?: string, headers?: readonly string[]): Behaviour {
  return says(answer(body, status, headers));
}

/** Every request gets these bytes, and the connection stays open. */
export function says(bytes: string): Behaviour {
  return ({ socket, onRequest }) => onRequest(() => socket.write(bytes));
}

/** Every request gets these bytes, and then the connection ends. */
export function saysAndEnds(bytes: string): Behaviour {
  return ({ socket, onRequest }) => onRequest(() => socket.end(bytes));
}

/** Healthy: the list, and a good test of every website. */
export const healthy: Behaviour = ({ socket, onRequest }) =>
  onRequest(({ path }) => socket.write(answer(path.endsWith("/test") ? TEST : LIST)));

/** Accepts, reads, and never says anything. */
export const silent: Behaviour = () => {};

/** The VRRP list at once, a website test never. */
export const silentWebsites: Behaviour = ({ socket, onRequest }) =>
  onRequest(({ path }) => {
    if (!path.endsWith("/test")) socket.write(answer(LIST));
  });

export const resetsAtOnce: Behaviour = ({ socket }) => void socket.resetAndDestroy();

export const resetsAtRequest: Behaviour = ({ socket, onRequest }) =>
  onRequest(() => socket.resetAndDestroy());

export const closesAtRequest: Behaviour = ({ socket, onRequest }) => onRequest(() => socket.destroy());

/** The beginning, and a reset when a client in this process has read it. */
export function saysAndResets(bytes: string): Behaviour {
  return ({ socket, onRequest }) =>
    onRequest(() =>
      socket.write(bytes, () => {
        // After a timer that is late, the event loop reads first and calls this then.
        setTimeout(() => setImmediate(() => socket.resetAndDestroy()), DRIP_MS);
      }),
    );
}

/** `first`, and then `drop` again and again until the client has had enough. */
export function drips(first: string, drop: string): Behaviour {
  return (connection) =>
    connection.onRequest(() => {
      connection.socket.write(first);
      untilClosed(connection, () => connection.socket.write(drop));
    });
}

function untilClosed({ socket }: Connection, work: () => void): void {
  const timer = setInterval(work, DRIP_MS);
  socket.once("close", () => clearInterval(timer));
}

/** `first`, and then as many bytes as the client takes, up to 50 MB. */
export function floods(first: string, chunk: Buffer = CHUNK): Behaviour {
  return ({ socket, onRequest }) =>
    onRequest(() => {
      let rest = 50_000_000;
      const pump = (): void => {
        while (rest > 0 && !socket.destroyed) {
          rest -= chunk.length;
          if (!socket.write(chunk)) return void socket.once("drain", pump);
        }
      };
      socket.write(first);
      pump();
    });
}

/** As `floods`, in the chunked coding, which tells no length. */
export function floodsInChunks(): Behaviour {
  const chunk = Buffer.concat([Buffer.from(`${CHUNK.length.toString(16)}\r\n`), CHUNK, Buffer.from("\r\n")]);
  return floods("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk);
}

/** Answers the first request of each connection, and closes it when the second one arrives. */
export function closesIdle(how: "end" | "reset" | "408"): Behaviour {
  return ({ socket, onRequest }) =>
    onRequest((_, nth) => {
      if (nth === 1) socket.write(answer(LIST));
      else if (how === "end") socket.destroy();
      else if (how === "408") socket.end(answer("", "408 Request Timeout"));
      else socket.resetAndDestroy();
    });
}

/** An HTTP server that finds no HTTP in what arrives. */
export const refusesGarbage: Behaviour = ({ socket }) =>
  void socket.once("data", () => socket.end(answer("", "400 Bad Request")));
