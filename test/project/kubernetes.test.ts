import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { formatPrometheusRule } from "../../monitoring/prometheus/prometheus-rule.ts";
import { loadConfig } from "../../src/exporter/config/load.ts";
import { writeSetup } from "../support/exporter.ts";

/** The kinds of manifests with their schemas. */
type Models = Readonly<
  Record<string, { readonly prototype: { readonly validate: (this: unknown) => void } }>
>;

const { version }: { readonly version: string } = createRequire(import.meta.url)("../../package.json");
const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const manifest = (name: string) => parse(read(`packaging/kubernetes/${name}.yaml`));

const dockerfile = read("Dockerfile");
const kustomization = manifest("kustomization");
const networkPolicy = manifest("networkpolicy");
const operatorKustomization = manifest("operator/kustomization");
const podMonitor = manifest("operator/podmonitor");
const prometheusRule = manifest("operator/prometheusrule");
const service = manifest("service");
const statefulSet = manifest("statefulset");

const { spec: pod, metadata } = statefulSet.spec.template;
const [container] = pod.containers;
const [port] = container.ports;

// Imported by address: the declarations of this package do not compile in strict mode.
const apps: Models = await import(import.meta.resolve("kubernetes-models/apps/v1"));
const core: Models = await import(import.meta.resolve("kubernetes-models/v1"));
const networking: Models = await import(import.meta.resolve("kubernetes-models/networking.k8s.io/v1"));

test.each([
  ["NetworkPolicy", networking, networkPolicy],
  ["Service", core, service],
  ["StatefulSet", apps, statefulSet],
])("the %s satisfies its schema and has no unknown key", (kind, models, data) => {
  const unknown = new Set<string>();
  // The schemas accept unknown keys with any value, which they do not read.
  const watchedData = watched(data, kind, unknown);
  expect(() => models[kind]?.prototype.validate.call(watchedData)).not.toThrow();
  expect(unknown).toEqual(new Set());
});

/** A copy of `value` whose values leave `unread` when they are read. */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  for (const key of Object.keys(value)) unread.add(`${path}.${key}`);
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    watched(inner, `${path}.${key}`, unread),
  ]);
  return new Proxy(Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries), {
    get(copy, key) {
      unread.delete(`${path}.${String(key)}`);
      return Reflect.get(copy, key);
    },
  });
}

function filesOf(folder: string): ReadonlySet<string> {
  const entries = readdirSync(new URL(`../../packaging/kubernetes/${folder}`, import.meta.url), {
    withFileTypes: true,
  });
  return new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
}

describe("the kustomizations", () => {
  it("have all files of their folders, none of which is a Secret, so applying them replaces no password", () => {
    const [{ files }] = kustomization.configMapGenerator;
    const own = ["kustomization.yaml", "README.md"];
    expect(new Set([...kustomization.resources, ...files, ...own])).toEqual(filesOf("."));
    expect(new Set([...operatorKustomization.resources, "kustomization.yaml"])).toEqual(filesOf("operator"));
    const paths = [...filesOf("."), ...[...filesOf("operator")].map((name) => `operator/${name}`)];
    expect(
      paths.filter((path) => /^ *"?kind"?: *"?Secret\b/m.test(read(`packaging/kubernetes/${path}`))),
    ).toEqual([]);
  });
});

test("the PrometheusRule has the rules of Prometheus; `npm run rules` writes it", () => {
  const rules = read("monitoring/prometheus/appliance-exporter.rules.yml");
  expect(read("packaging/kubernetes/operator/prometheusrule.yaml")).toBe(formatPrometheusRule(rules));
  expect(prometheusRule.spec).toEqual(parse(rules));
});

describe("the pod", () => {
  it("runs this version of the image with its command, on its port, as the shard of its index", () => {
    expect(container.image).toBe(`appliance-exporter:${version}`);
    expect(container).not.toHaveProperty("command");
    const [shard, ...args] = container.args.toReversed();
    expect(dockerfile).toContain(`\nCMD ${JSON.stringify(args.toReversed()).replaceAll(",", ", ")}\n`);
    expect(dockerfile).toContain(`\nEXPOSE ${port.containerPort}\n`);
    expect(shard).toBe("--shard=$(POD_INDEX)/$(SHARDS)");
    const [index, shards] = container.env;
    expect(index.valueFrom.fieldRef.fieldPath).toBe("metadata.labels['apps.kubernetes.io/pod-index']");
    expect(shards).toEqual({ name: "SHARDS", value: String(statefulSet.spec.replicas) });
  });

  it("runs as the image's user, who is not root, without further privileges", () => {
    const { runAsUser, runAsGroup, runAsNonRoot, seccompProfile } = pod.securityContext;
    expect(dockerfile).toContain(`\nUSER ${runAsUser}:${runAsGroup}\n`);
    expect({ runAsNonRoot, seccompProfile }).toEqual({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
  });

  it("keeps a journal in a claim of its own, at the image's volume", () => {
    const [claim] = statefulSet.spec.volumeClaimTemplates;
    const [, mount] = container.volumeMounts;
    expect(mount).toEqual({ name: claim.metadata.name, mountPath: "/var/lib/appliance-exporter" });
    expect(dockerfile).toContain(`\nVOLUME ${JSON.stringify([mount.mountPath])}\n`);
    expect(container.args).toContain(`--storage.path=${mount.mountPath}`);
    // Also as the user who is not root, and without access for other groups.
    expect(pod.securityContext).toMatchObject({ fsGroup: 65534, fsGroupChangePolicy: "OnRootMismatch" });
  });

  it("mounts a configuration that loads, with the files that it names", async () => {
    const [mount] = container.volumeMounts;
    expect(container.args).toContain(`--config.file=${mount.mountPath}/config.yaml`);
    const folder = await writeSetup({ config: "" });
    onTestFinished(() => rm(folder, { recursive: true }));
    const { sources } = pod.volumes[0].projected;
    const [, secretName, secretKey] =
      /kubectl create secret generic (\S+) --from-file=(\S+)=/.exec(
        read("packaging/kubernetes/kustomization.yaml"),
      ) ?? [];
    const [{ name, files }] = kustomization.configMapGenerator;
    expect(sources).toEqual([
      { configMap: { name } },
      { secret: { name: secretName, items: [{ key: secretKey, path: "secrets/monitor" }] } },
    ]);
    await mkdir(join(folder, "secrets"));
    await writeFile(join(folder, "secrets/monitor"), "password");
    for (const file of files) await writeFile(join(folder, file), read(`packaging/kubernetes/${file}`));
    const loaded = await loadConfig(join(folder, "config.yaml"));
    const appliances = loaded.ok ? loaded.config.appliances : [];
    expect(appliances.map((each) => [each.name, each.http.tls.knownCertificates?.path])).toEqual([
      ["waf-ams-1", join(folder, "known_certificates")],
      ["waf-ams-2", join(folder, "known_certificates")],
    ]);
    expect(appliances[0]?.http.basicAuth?.password).toMatchObject({ path: join(folder, "secrets/monitor") });
  });

  it("is selected by the Service, the NetworkPolicy and the PodMonitor, by its labels and the name of its port", () => {
    expect(statefulSet.spec.selector.matchLabels).toEqual(metadata.labels);
    expect(statefulSet.spec.serviceName).toBe(service.metadata.name);
    expect(service.spec.selector).toEqual(metadata.labels);
    expect(networkPolicy.spec.podSelector.matchLabels).toEqual(metadata.labels);
    expect(networkPolicy.spec.ingress[0].ports).toEqual([{ port: port.name }]);
    expect(podMonitor.spec.selector.matchLabels).toEqual(metadata.labels);
    expect(metadata.labels).toHaveProperty([podMonitor.spec.jobLabel]);
    expect(service.spec.ports).toEqual([{ name: "http", port: 10849, targetPort: port.name }]);
    const [endpoint] = podMonitor.spec.podMetricsEndpoints;
    expect([endpoint.port, endpoint.path]).toEqual([port.name, "/metrics"]);
  });
});
