import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { cutText } from "../../src/api/kept-text.ts";
import { loadConfig } from "../../src/config/load.ts";
import { writeSetup } from "../support/exporter.ts";
import { manifests, modelled } from "./kubernetes-files.ts";
import { pathsOf, spoilAt } from "./spoil.ts";

const { configMap, deployment, podMonitor, secret, service } = manifests;

const repositoryFile = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const dockerfile = repositoryFile("Dockerfile");

const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const [port] = container.ports;

describe.each(modelled)("the %s", (_, Model, manifest) => {
  const isValid = (data: unknown): boolean => {
    try {
      new Model(data).validate();
      return true;
    } catch {
      return false;
    }
  };

  it("is what its schema wants", () => {
    expect(() => new Model(manifest).validate()).not.toThrow();
  });

  it("has no key that its schema does not know", () => {
    // The schemas let unknown keys pass, and so every value of theirs; that of a known key must be of its type.
    const unknown = pathsOf(manifest).filter((path) => isValid(spoilAt(manifest, path)));
    expect(unknown.map((path) => path.join("."))).toEqual([]);
  });
});

describe("the pod", () => {
  it("runs this version of the image, as the Dockerfile starts it", () => {
    const { version }: { readonly version: string } = JSON.parse(repositoryFile("package.json"));
    expect(container.image).toBe(`appliance-exporter:${version}`);
    expect(container).not.toHaveProperty("command");
    expect(dockerfile).toContain(`\nCMD ${JSON.stringify(container.args).replaceAll(",", ", ")}\n`);
  });

  it("has the port that the image serves, and is asked for life and readiness there", () => {
    expect(dockerfile).toContain(`\nEXPOSE ${port?.containerPort}\n`);
    const { livenessProbe, readinessProbe } = container;
    expect([livenessProbe.httpGet, readinessProbe.httpGet]).toEqual([
      { path: "/-/healthy", port: port?.name },
      { path: "/-/ready", port: port?.name },
    ]);
  });

  it("runs as the image's user, who is not root, and may do nothing else", () => {
    const { runAsUser, runAsGroup, runAsNonRoot, seccompProfile } = pod.securityContext;
    expect(dockerfile).toContain(`\nUSER ${String(runAsUser)}:${String(runAsGroup)}\n`);
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

  it("finds a configuration that loads, with the files that it names, where it looks for it", async () => {
    const [mount] = container.volumeMounts;
    expect(container.args).toContain(`--config.file=${mount?.mountPath}/config.yaml`);
    const folder = await writeSetup({ config: "" });
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const { path, text } of mountedFiles()) {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), text ?? "");
    }
    const loaded = await loadConfig(join(folder, "config.yaml"));
    const names = loaded.ok ? loaded.config.appliances.map(({ name }) => name) : loaded.errors;
    expect(names).toEqual(["waf-ams-1", "waf-ams-2"]);
  });

  it("is what the Service and the PodMonitor select, by its labels and the name of its port", () => {
    const labels = deployment.spec.template.metadata.labels;
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(service.spec.selector).toEqual(labels);
    expect(podMonitor.spec.selector.matchLabels).toEqual(labels);
    expect(service.spec.ports).toEqual([{ name: "http", port: 10849, targetPort: port?.name }]);
    const [endpoint] = podMonitor.spec.podMetricsEndpoints;
    expect([endpoint.port, endpoint.path]).toEqual([port?.name, "/metrics"]);
  });
});

describe("the PodMonitor", () => {
  it("sets every limit, and none below what the exporter may say", () => {
    const { targetLimit, sampleLimit, labelLimit, labelNameLengthLimit, labelValueLengthLimit } =
      podMonitor.spec;
    expect({ targetLimit, sampleLimit, labelLimit, labelNameLengthLimit, labelValueLengthLimit }).toEqual({
      targetLimit: 2,
      sampleLimit: 100_000,
      labelLimit: 40,
      labelNameLengthLimit: 128,
      labelValueLengthLimit: Buffer.byteLength(cutText("x".repeat(300))),
    });
  });
});

/** What the volume holds, from the ConfigMap and the Secret that it names. */
function mountedFiles(): readonly { readonly path: string; readonly text: string | undefined }[] {
  const sources = pod.volumes[0].projected.sources;
  return sources.flatMap((source) => {
    const isConfigMap = source.configMap?.name === configMap.metadata.name;
    const isSecret = source.secret?.name === secret.metadata.name;
    const files = [
      ...(isConfigMap
        ? (source.configMap?.items ?? []).map((item) => ({ ...item, of: configMap.data }))
        : []),
      ...(isSecret ? (source.secret?.items ?? []).map((item) => ({ ...item, of: secret.stringData })) : []),
    ];
    return files.map(({ key, path, of }) => ({ path, text: of?.[key] }));
  });
}
