import type { IncomingMessage } from "node:http";
import type { FleetDocument } from "../status/schema.ts";
import { compressed } from "./gzip.ts";
import type { Reply } from "./reply.ts";
import { createSharedRendering } from "./scrape.ts";

/** The document as JSON, for programs. */
export function createFleetPage(document: () => FleetDocument): (request: IncomingMessage) => Promise<Reply> {
  const rendering = createSharedRendering(async () => `${JSON.stringify(document())}\n`);
  return async (request) =>
    compressed(request, {
      status: 200,
      contentType: "application/json",
      body: await rendering.plain(),
      headers: { "cache-control": "no-store" },
    });
}
