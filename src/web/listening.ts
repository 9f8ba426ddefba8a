import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { ListenAddress } from "./listen-address.ts";

type Server = HttpServer | HttpsServer;

/** Where a server listens. */
export interface ListeningAddress extends ListenAddress {
  readonly host: string;
}

/** Resolves when the server listens, to where it does; port 0 has become a free one. Rejects with the runtime's error. */
export async function listen(server: Server, { host, port }: ListenAddress): Promise<ListeningAddress> {
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("a server on a port has a numeric address");
  return { host: address.address, port: address.port };
}

/** Stops listening, ends every connection, and resolves when the last one is gone; at once where it does not listen. */
export async function closeAtOnce(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
