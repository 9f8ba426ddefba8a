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
    secondPort: protocol === "both" ? httpPort : undefined,
    backends: await Promise.all(backends),
  };
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const end = (isOk: boolean) => {
      socket.destroy();
      resolve(isOk);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}
