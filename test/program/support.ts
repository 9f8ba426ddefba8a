import { createServer, type RequestListener } from "node:http";
import { runProgram } from "../../src/program/program.ts";
import { systemClock } from "../../src/support/clock.ts";
import { listen } from "../appliance/support.ts";
import { createTestIo } from "../support/io.ts";
import { WALL_MS } from "../support/observations.ts";

/** Serves on the loopback interface until the test ends. */
export async function serve(handler: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(handler))}`;
}

/** Serves a document of the fleet under the prefix `/exporter`. */
export function answering(document: unknown): RequestListener {
  return ({ url }, response) => {
    response.statusCode = url === "/exporter/api/v1/fleet" ? 200 : 404;
    response.end(JSON.stringify(document));
  };
}

/** Runs a command 3 s after the canned observations. */
export async function runAfter(
  ...argv: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  const { io, printed } = await createTestIo({ clock: { ...systemClock, wallMs: () => WALL_MS + 3000 } });
  return { code: await runProgram(argv, io), ...printed };
}
