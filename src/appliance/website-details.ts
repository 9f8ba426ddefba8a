import { connect } from "node:net";
import type { LocalWebsiteDetails } from "../api/website-details.ts";
import type { Website } from "./website-head.ts";

const CONNECT_TIMEOUT_MS = 1_000;

/** The details of a website. A server behind it is OK if it accepts a TCP connection within a second. */
export async function detailsOf({ servers, ...website }: Website): Promise<LocalWebsiteDetails> {
  const { protocol, httpPort, httpsPort } = website;
  const backends = servers.map(async (server) => ({
    ...server,
    isOk: await accepts(server.host, server.port),
  }));
  return {
    ...website,
    port: protocol === "http" ? httpPort : httpsPort,
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
