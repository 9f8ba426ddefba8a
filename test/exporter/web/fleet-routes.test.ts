import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { startTestExporter } from "../../support/exporter.ts";
import { connectTo } from "./support.ts";

/** They show nothing of the fleet. */
const CONSTANTS = /^\/(-\/(healthy|ready|reload)|assets\/.*|runbook)$/;
const CLIENTS = 150;

interface Client {
  readonly socket: Socket;
  readonly received: () => string;
}

async function connectClient(port: number): Promise<Client> {
  const socket = await connectTo(port);
  let received = "";
  socket.on("data", (data: Buffer) => (received += data.toString("latin1")));
  // The server has accepted the connection when it answers.
  request(socket, "/-/healthy");
  await once(socket, "data");
  received = "";
  return { socket, received: () => received };
}

function request(socket: Socket, path: string): void {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
}

test("of every path that an exporter serves and that is no constant, simultaneous requests of a client share renderings, and some are refused", async () => {
  const appliances = [{ name: "a", base_url: "https://192.0.2.1:4849", enabled: false }];
  const exporter = await startTestExporter({ config: { appliances } });
  onTestFinished(exporter.stop);
  const paths = exporter.paths.filter((path) => !CONSTANTS.test(path));
  expect(paths).toEqual(expect.arrayContaining(["/", "/metrics", "/api/v1/fleet"]));
  for (const path of paths) {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connectClient(exporter.port)));
    // The exporter, in this process, reads all of them in one turn of its event loop.
    for (const { socket } of clients) request(socket, path);
    await eventually(() => expect(clients.every(({ received }) => received() !== "")).toBe(true));
    const statuses = clients.map(({ received }) => Number(received().slice(9, 12)));
    expect.soft(new Set(statuses), path).toEqual(new Set([200, 503]));
    for (const { socket } of clients) socket.destroy();
  }
});
