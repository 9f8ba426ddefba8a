import type { IncomingMessage } from "node:http";
import { sharedReply } from "./metrics-text.ts";
import type { Reply } from "./reply.ts";
import { createSharedRendering } from "./scrape.ts";

/** The fleet's document as JSON, for programs. */
export function createFleetPage(render: () => Promise<string>): (request: IncomingMessage) => Promise<Reply> {
  const rendering = createSharedRendering(render);
  return async (request) => {
    const reply = await sharedReply(request, rendering, "application/json");
    return { ...reply, headers: { ...reply.headers, "cache-control": "no-store" } };
  };
}
