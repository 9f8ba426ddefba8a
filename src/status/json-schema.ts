import { z } from "zod";
import { fleetDocumentSchema } from "./schema.ts";

/** The form of what `/api/v1/fleet` serves as JSON Schema, draft 2020-12. */
export function formatFleetSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(fleetDocumentSchema, {
    io: "input",
    target: "draft-2020-12",
  });
  return `${JSON.stringify({ $schema, title: "The fleet, as /api/v1/fleet serves it", ...schema }, null, 2)}\n`;
}
