import { z } from "zod";
import { configSchema } from "../src/exporter/config/schema.ts";

/** Returns the schema of the main file as JSON Schema, draft 2020-12, for editors; files of `config_files` satisfy it too. */
export function formatConfigSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { io: "input", target: "draft-2020-12" });
  return `${JSON.stringify({ $schema, title: "Configuration of appliance-exporter", ...schema }, null, 2)}\n`;
}
