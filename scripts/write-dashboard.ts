import { writeFile } from "node:fs/promises";
import { formatDashboard } from "../monitoring/grafana/dashboard/dashboard.ts";

await writeFile(new URL("../monitoring/grafana/appliance-exporter.json", import.meta.url), formatDashboard());
