import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

/** A provisioning file; a key that is not among these would be passed over by Grafana in silence. */
function provisioned<T extends z.ZodType>(file: string, schema: T): z.infer<T> {
  const text = readFileSync(
    new URL(`../../monitoring/grafana/provisioning/${file}`, import.meta.url),
    "utf8",
  );
  return schema.parse(parse(text));
}

/** @see https://grafana.com/docs/grafana/latest/administration/provisioning/#data-sources */
const DATASOURCES = z.strictObject({
  apiVersion: z.literal(1),
  datasources: z.tuple([
    z.strictObject({
      name: z.string(),
      uid: z.string(),
      type: z.literal("prometheus"),
      access: z.literal("proxy"),
      url: z.url(),
      isDefault: z.boolean(),
      jsonData: z.strictObject({ httpMethod: z.literal("POST"), timeInterval: z.string() }),
    }),
  ]),
});

/** @see https://grafana.com/docs/grafana/latest/administration/provisioning/#dashboards */
const DASHBOARDS = z.strictObject({
  apiVersion: z.literal(1),
  providers: z.tuple([
    z.strictObject({
      name: z.string(),
      type: z.literal("file"),
      updateIntervalSeconds: z.int().min(10),
      allowUiUpdates: z.boolean(),
      options: z.strictObject({ path: z.string().startsWith("/") }),
    }),
  ]),
});

test("the data source is the Prometheus that stands beside Grafana, scraping as often as the README says", () => {
  const [datasource] = provisioned("datasources/prometheus.yml", DATASOURCES).datasources;
  expect(datasource).toMatchObject({ url: "http://prometheus:9090", isDefault: true });
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  expect(readme).toContain(`scrape_interval: ${datasource.jsonData.timeInterval}\n`);
});

test("the dashboard is read from a folder of its own", () => {
  const [provider] = provisioned("dashboards/appliance-exporter.yml", DASHBOARDS).providers;
  expect(provider).toMatchObject({
    allowUiUpdates: false,
    options: { path: "/var/lib/grafana/dashboards" },
  });
});
