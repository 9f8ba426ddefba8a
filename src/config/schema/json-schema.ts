import { z } from "zod";
import { configSchema } from "./config-file.ts";

/** The main file's form as JSON Schema, draft 2020-12, for editors; a file of `config_files` fits it too. */
export function formatConfigSchema(): string {
  const { $schema, title, ...schema } = z.toJSONSchema(configSchema, {
    io: "input",
    target: "draft-2020-12",
  });
  return `${JSON.stringify({ $schema, title, ...schema }, null, 2)}\n`;
}
