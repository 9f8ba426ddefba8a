import { dirname, join, resolve } from "node:path";

import type { LocalVrrpInterface } from "../api/vrrp.ts";
import { sortErrors, type Checked } from "../config/errors.ts";
import { checkKeyPair, readNamedFiles, type NamedFiles } from "../config/named-files.ts";
import { createSourceReader } from "../config/sources.ts";
import { loadYaml } from "../config/validate.ts";
import { errorAt, type YamlFile } from "../config/yaml.ts";
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
  const { file, value: settings } = loaded;
  const test = settings.website_test.tls_config;
  const files = await readNamedFiles(
    [
      { kind: "certificates", file, at: ["tls", "cert_file"], name: settings.tls.cert_file },
      { kind: "key", file, at: ["tls", "key_file"], name: settings.tls.key_file },
      { kind: "certificates", file, at: ["website_test", "tls_config", "ca_file"], name: test.ca_file },
      ...settings.users.map(({ password_file: name }, index) => {
        return { kind: "password", file, at: ["users", index, "password_file"], name } as const;
      }),
    ],
    reader,
  );
  const config = resolveConfig(file, settings, files);
  const { cert, key } = config.tls;
  const mismatch = cert === "" || key.reveal() === "" ? undefined : checkKeyPair(cert, key.reveal());
  const errors =
    mismatch === undefined ? files.errors : [...files.errors, errorAt(file, ["tls", "key_file"], mismatch)];
  return errors.length === 0 ? { ok: true, config } : { ok: false, errors: sortErrors(errors, [path]) };
}

function resolveConfig(file: YamlFile, settings: ApplianceSettings, { textOf }: NamedFiles): ApplianceConfig {
  const { timeout, tls_config: tls } = settings.website_test;
  return {
    listen: settings.listen,
    tls: {
      cert: textOf("certificates", file, settings.tls.cert_file) ?? "",
      key: new Secret(textOf("key", file, settings.tls.key_file) ?? ""),
    },
    users: settings.users.map(({ username, password, password_file: name }) => ({
      username,
      password: new Secret(password ?? textOf("password", file, name) ?? ""),
    })),
    vrrp: resolveVrrp(settings.vrrp, file.file),
    websiteTest: {
      timeoutMs: timeout,
      ca: textOf("certificates", file, tls.ca_file),
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
