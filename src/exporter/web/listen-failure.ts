import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestTls } from "node:https";
import { errorCode, messageOf } from "../../support/errors.ts";
import { formatAddress, MAX_PORT, type ListenAddress } from "./listen.ts";

/** The longest time for the answer of whoever has the port. */
const ASK_MS = 1000;

/** Returns why a server cannot listen on an address, and what to do; `setting` writes the setting of another one. */
export async function describeListenFailure(
  error: unknown,
  address: ListenAddress,
  setting: (address: string) => string,
): Promise<string> {
  const { host = "", port } = address;
  switch (errorCode(error) ?? "") {
    case "EADDRINUSE": {
      const who = (await isExporterAt(address)) ? "an appliance-exporter" : "another program";
      const free = formatAddress({ host, port: port < MAX_PORT ? port + 1 : port - 1 });
      return `${who} listens there already: stop it, or choose another port, such as ${setting(free)}`;
    }
    case "EACCES":
      return `this user may not listen on port ${port}: choose one of 1024 or greater, such as ${setting(formatAddress({ host, port: port + 10_000 }))}`;
    case "EADDRNOTAVAIL":
      return `this host has no address ${host}: write one that it has, or none, such as ${setting(`:${port}`)}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${host} is unknown here: write an address, or none, such as ${setting(`:${port}`)}`;
    default:
      return messageOf(error);
  }
}

/** Whether an appliance-exporter answers on a port, over HTTP or HTTPS. */
async function isExporterAt({ host = "localhost", port }: ListenAddress): Promise<boolean> {
  const route = { host, port, path: "/api/v1/maintenance", agent: false as const };
  const answers = await Promise.all([
    isOurs(() => request(route)),
    isOurs(() => requestTls({ ...route, rejectUnauthorized: false })),
  ]);
  return answers.includes(true);
}

/** Whether the answer is one of our own route: windows, or a demand for a password. The request has no credentials. */
function isOurs(open: () => ClientRequest): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = open();
    const timer = setTimeout(() => sent.destroy(), ASK_MS);
    sent.on("response", (response: IncomingMessage) => {
      const { "www-authenticate": realm = "" } = response.headers;
      if (realm.includes('realm="appliance-exporter"')) resolve(true);
      response.once("data", (piece: Buffer) => {
        resolve(piece.toString().startsWith('{"windows":'));
        sent.destroy();
      });
      response.once("end", () => sent.destroy());
      response.on("error", () => {});
    });
    sent.on("error", () => {});
    sent.on("close", () => {
      clearTimeout(timer);
      resolve(false);
    });
    sent.end();
  });
}
