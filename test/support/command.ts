import { fileURLToPath } from "node:url";

/** The command as it is installed. It runs what the last build made. */
export const COMMAND = fileURLToPath(new URL("../../bin/appliance-exporter.cjs", import.meta.url));
