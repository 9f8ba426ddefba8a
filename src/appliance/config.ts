import { dirname, join, resolve } from "node:path";

import type { LocalVrrpInterface } from "../api/vrrp-list.ts";
import type { ConfigError } from "../config/config.ts";
import { limitErrors } from "../config/errors.ts";
import { checkKeyPair, readNamedFiles, type NamedFile, type NamedFiles } from "../config/named-files.ts";
import { recordSources } from "../config/sources.ts";
import { validateYaml } from "../config/validate.ts";
import { errorAt, readYamlFile, type YamlFile } from "../config/yaml.ts";
import { Secret } from "../support/secret.ts";
import { applianceSchema, type ApplianceSettings } from "./config-schema.ts";
import type { ApplianceServerDeps } from "./server.ts";
import type { KeepalivedOptions } from "./vrrp-keepalived.ts";

const DUMP_NAME = "keepalived.json";

export type VrrpConfig =
  | { readonly source: "static"; readonly interfaces: readonly LocalVrrpInterface[] }
  | ({ readonly source: "keepalived" } & KeepalivedOptions);

/** What the reference appliance is to be: everything read, checked and resolved. */
interface ApplianceConfig extends Pick<
  ApplianceServerDeps,
  "listen" | "tls" | "users" | "websites" | "websiteTest"
> {
  readonly vrrp: VrrpConfig;
}

export type ApplianceConfigResult =
  | { readonly ok: true; readonly config: ApplianceConfig }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/** The configuration in a YAML file and the files that it names, or what is wrong with it: the schema's errors first. */
export async function loadApplianceConfig(path: string): Promise<ApplianceConfigResult> {
  const read = await readYamlFile(path);
  if (!read.ok) return read;
  const { file } = read;
  const validated = validateYaml(file, applianceSchema);
  if (!validated.ok) return validated;
  const files = await readNamedFiles(namedFiles(file, validated.value), recordSources());
  const config = resolveConfig(file, validated.value, files);
  const { cert, key } = config.tls;
  const mismatch = cert === "" || key.reveal() === "" ? undefined : checkKeyPair(cert, key.reveal());
  const errors = [
    ...files.errors,
    ...(mismatch === undefined ? [] : [errorAt(file, ["tls", "key_file"], mismatch)]),
  ];
  return errors.length === 0 ? { ok: true, config } : { ok: false, errors: limitErrors(errors, [path]) };
}

function namedFiles(
  file: YamlFile,
  { tls, users, website_test: { tls_config: test } }: ApplianceSettings,
): readonly NamedFile[] {
  const passwords = users.map(({ password_file: name }, index) => ({
    kind: "password" as const,
    at: ["users", index, "password_file"],
    name,
  }));
  const pems = [
    { kind: "certificates", at: ["tls", "cert_file"], name: tls.cert_file },
    { kind: "key", at: ["tls", "key_file"], name: tls.key_file },
    { kind: "certificates", at: ["website_test", "tls_config", "ca_file"], name: test.ca_file },
  ] as const;
  return [...pems, ...passwords].flatMap(({ name, ...rest }) =>
    name === undefined ? [] : [{ ...rest, file, name }],
  );
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
    websites: settings.websites.map(({ http_port: httpPort, https_port: httpsPort, ...rest }) => ({
      ...rest,
      httpPort,
      httpsPort,
    })),
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
