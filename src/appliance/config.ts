import type { ConfigError } from "../config/config.ts";
import { sortErrors } from "../config/errors.ts";
import { checkKeyPair } from "../config/resolve/pem-file.ts";
import { Secret } from "../support/secret.ts";
import { validateYaml } from "../config/yaml/validate.ts";
import { errorAt, readYamlFile, type YamlFile } from "../config/yaml/file.ts";
import { readReferencedFiles, type ReferencedFiles } from "./config-files.ts";
import { applianceSchema, type ApplianceSettings } from "./config-schema.ts";
import { resolveVrrp, type VrrpConfig } from "./config-vrrp.ts";
import type { ApplianceServerDeps } from "./server.ts";

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

/** The configuration that a YAML file and the files named in it hold, or every error with its position. */
export async function loadApplianceConfig(path: string): Promise<ApplianceConfigResult> {
  const read = await readYamlFile(path);
  if (!read.ok) return read;
  const { file } = read;
  const validated = validateYaml(file, applianceSchema);
  const files = await readReferencedFiles(file);
  const errors = [...(validated.ok ? [] : validated.errors), ...files.errors, ...keyPairErrors(file, files)];
  if (!validated.ok || errors.length > 0) return { ok: false, errors: sortErrors([file.file], errors) };
  return { ok: true, config: resolveConfig(file, validated.value, files) };
}

/** An error where certificate and key, each of them sound, do not go together. */
function keyPairErrors(file: YamlFile, { texts }: ReferencedFiles): readonly ConfigError[] {
  const [cert, key] = [texts.get("tls.cert_file"), texts.get("tls.key_file")];
  const message = cert !== undefined && key !== undefined ? checkKeyPair(cert, key) : undefined;
  return message === undefined ? [] : [errorAt(file, ["tls", "key_file"], message)];
}

function resolveConfig(
  { file }: YamlFile,
  settings: ApplianceSettings,
  { texts }: ReferencedFiles,
): ApplianceConfig {
  const { timeout, tls_config: tls } = settings.website_test;
  return {
    listen: settings.listen,
    tls: { cert: texts.get("tls.cert_file") ?? "", key: new Secret(texts.get("tls.key_file") ?? "") },
    users: settings.users.map(({ username, password }, index) => ({
      username,
      password: new Secret(password ?? texts.get(`users[${index}].password_file`) ?? ""),
    })),
    vrrp: resolveVrrp(settings.vrrp, file),
    websiteTest: {
      timeoutMs: timeout,
      ca: texts.get("website_test.tls_config.ca_file"),
      insecureSkipVerify: tls.insecure_skip_verify,
    },
    websites: settings.websites.map(({ http_port: httpPort, https_port: httpsPort, ...rest }) => ({
      ...rest,
      httpPort,
      httpsPort,
    })),
  };
}
