import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** A kind of manifest, with what its schema says. */
type Model = new (data: unknown) => { readonly validate: () => void };

/** Imported by address: the declarations of these packages do not pass the compiler's strictness. */
const MODELS = {
  apps: import.meta.resolve("kubernetes-models/apps/v1"),
  core: import.meta.resolve("kubernetes-models/v1"),
  operator: import.meta.resolve("@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1"),
};
const { Deployment }: Record<"Deployment", Model> = await import(MODELS.apps);
const { ConfigMap, Secret, Service }: Record<"ConfigMap" | "Secret" | "Service", Model> = await import(
  MODELS.core
);
const { PodMonitor }: Record<"PodMonitor", Model> = await import(MODELS.operator);

interface Metadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: { readonly httpGet: unknown };
  readonly readinessProbe: { readonly httpGet: unknown };
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

/** Files that a volume takes out of a ConfigMap or a Secret. */
interface Projection {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string }[];
}

interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly [Container];
  readonly volumes: readonly [
    {
      readonly projected: {
        readonly sources: readonly { readonly configMap?: Projection; readonly secret?: Projection }[];
      };
    },
  ];
}

/** The manifests as far as tests read them. */
interface Manifests {
  readonly configMap: { readonly metadata: Metadata; readonly data: Readonly<Record<string, string>> };
  readonly secret: { readonly metadata: Metadata; readonly stringData: Readonly<Record<string, string>> };
  readonly deployment: {
    readonly spec: {
      readonly selector: { readonly matchLabels: unknown };
      readonly template: { readonly metadata: Pick<Metadata, "labels">; readonly spec: Pod };
    };
  };
  readonly service: { readonly spec: { readonly selector: unknown; readonly ports: unknown } };
  readonly podMonitor: {
    readonly spec: Readonly<Record<`${string}imit`, unknown>> & {
      readonly selector: { readonly matchLabels: unknown };
      readonly podMetricsEndpoints: readonly [{ readonly port: string; readonly path: string }];
    };
  };
}

export const manifests: Manifests = {
  configMap: parse(text("configmap")),
  deployment: parse(text("deployment")),
  podMonitor: parse(text("podmonitor")),
  secret: parse(text("secret")),
  service: parse(text("service")),
};

/** Each manifest beside its model. */
export const modelled: readonly (readonly [string, Model, unknown])[] = [
  ["ConfigMap", ConfigMap, manifests.configMap],
  ["Deployment", Deployment, manifests.deployment],
  ["PodMonitor", PodMonitor, manifests.podMonitor],
  ["Secret", Secret, manifests.secret],
  ["Service", Service, manifests.service],
];

function text(name: string): string {
  return readFileSync(new URL(`../../packaging/kubernetes/${name}.yaml`, import.meta.url), "utf8");
}
