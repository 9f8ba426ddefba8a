import { writeFile } from "node:fs/promises";
import { formatConfigSchema } from "./config-schema.ts";
import { formatFleetSchema } from "../src/exporter/document/schema.ts";

const root = new URL("../", import.meta.url);
await writeFile(new URL("config.schema.json", root), formatConfigSchema());
await writeFile(new URL("docs/fleet.schema.json", root), formatFleetSchema());
