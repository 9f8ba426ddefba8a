import { writeFile } from "node:fs/promises";
import { formatConfigSchema } from "../src/config/schema/json-schema.ts";

await writeFile(new URL("../config.schema.json", import.meta.url), formatConfigSchema());
