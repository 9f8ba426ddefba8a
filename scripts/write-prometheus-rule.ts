import { readFile, writeFile } from "node:fs/promises";
import { formatPrometheusRule } from "../monitoring/prometheus/prometheus-rule.ts";

const root = new URL("../", import.meta.url);
const rules = await readFile(new URL("monitoring/prometheus/appliance-exporter.rules.yml", root), "utf8");
await writeFile(
  new URL("packaging/kubernetes/operator/prometheusrule.yaml", root),
  formatPrometheusRule(rules),
);
