import { dirname, join, resolve } from "node:path";

import type { LocalVrrpInterface } from "../api/vrrp.ts";
import type { Checked } from "../config/errors.ts";
import type { ConfigError } from "../config/config.ts";
import { createNamedFiles, type NamedFiles } from "../config/named-files.ts";
import { createSourceReader } from "../config/sources.ts";
import { loadYaml } from "../config/validate.ts";
import type { YamlFile } from "../config/yaml.ts";
import { Secret } from "../support/secret.ts";
import { applianceSchema, type ApplianceSettings } from "./config-schema.ts";
import type { ApplianceServerDeps } from "./server.ts";
import type { KeepalivedOptions } from "./vrrp-keepalived.ts";

const DUMP_NAME = "keepalived.json";

export type VrrpConfig =
  | { readonly source: "static"; readonly interfaces: readonly LocalVrrpInterface[] }
  | ({ readonly source: "keepalived" } & KeepalivedOptions);

/** The resolved configuration of the reference appliance. */
interface ApplianceConfig extends Pick<
  ApplianceServerDeps,
  "listen" | "tls" | "users" | "websites" | "websiteTest" | "hasWebsiteList"
> {
  readonly vrrp: VrrpConfig;
}

/** Loads the configuration and the files that it names, or returns the errors, those of the schema first. */
export async function loadApplianceConfig(
  path: string,
): Promise<Checked<{ readonly config: ApplianceConfig }>> {
  const reader = createSourceReader();
  const loaded = await loadYaml(path, applianceSchema, reader);
  if (!loaded.ok) return loaded;
  const errors: ConfigError[] = [];
  const files = createNamedFiles(reader, (error) => errors.push(error));
  const config = await resolveConfig(loaded.file, loaded.value, files);
  return errors.length === 0 ? { ok: true, config } : { ok: false, errors };
}

async function resolveConfig(
  file: YamlFile,
  settings: ApplianceSettings,
  files: NamedFiles,
): Promise<ApplianceConfig> {
  const { timeout, tls_config: tls } = settings.website_test;
  const { cert = "", key = "" } = await files.readKeyPair(file, ["tls"]);
  const users = settings.users.map(async ({ username, password }, index) => {
    const read = await files.read("password", file, ["users", index, "password_file"]);
    return { username, password: new Secret(password ?? read ?? "") };
  });
  return {
    listen: settings.listen,
    tls: { cert, key: new Secret(key) },
    users: await Promise.all(users),
    vrrp: resolveVrrp(settings.vrrp, file.file),
    websiteTest: {
      timeoutMs: timeout,
      ca: await files.read("certificates", file, ["website_test", "tls_config", "ca_file"]),
      insecureSkipVerify: tls.insecure_skip_verify,
    },
    websites: settings.websites.map(
      ({ http_port: httpPort, https_port: httpsPort, name, enabled: isEnabled, ...rest }) => ({
        ...rest,
        name: name ?? rest.host,
        isEnabled,
        httpPort,
        httpsPort,
      }),
    ),
    hasWebsiteList: settings.website_list,
  };
}

/** `file`: the configuration's own, which relative paths are relative to. */
export function resolveVrrp(settings: ApplianceSettings["vrrp"], file: string): VrrpConfig {
  if (settings.source === "static") {
    const interfaces = Object.entries(settings.interfaces).map(
      ([name, { if: device, state_current: state, carppeer: peer, ...rest }]) => ({
        name,
        device,
        state,
        peer,
        ...rest,
      }),
    );
    return { source: "static", interfaces };
  }
  const folder = dirname(file);
  const instances = Object.entries(settings.instances).map(
    ([name, { carppeer: peer, ...rest }]) => [name, { peer, ...rest }] as const,
  );
  return {
    source: "keepalived",
    pidFile: resolve(folder, settings.pid_file),
    dumpFile: join(resolve(folder, settings.dump_dir), DUMP_NAME),
    signal: settings.json_signal,
    timeoutMs: settings.timeout,
    instances: new Map(instances),
  };
}
