import { once } from "node:events";
import { connect } from "node:net";
import type { LocalWebsiteDetails } from "../api/website-details.ts";
import type { Website } from "./website-head.ts";

const CONNECT_TIMEOUT_MS = 1_000;

/**
 * The details of a website. A server behind it is OK if it accepts a TCP connection within a second; the one of a website without
 * servers is the host that it tests.
 */
export async function detailsOf({ servers, ...website }: Website): Promise<LocalWebsiteDetails> {
  const { protocol, host, httpPort, httpsPort } = website;
  const port = protocol === "http" ? httpPort : httpsPort;
  const behind = servers.length > 0 ? servers : [{ protocol, host, port, role: "active" } as const];
  const backends = behind.map(async (server) => ({
    ...server,
    isOk: await accepts(server.host, server.port),
  }));
  return {
    ...website,
    port,
    secondPort: httpPort,
    backends: await Promise.all(backends),
  };
}

async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
