import { isIP } from "node:net";
import { dirname, join, resolve } from "node:path";

import { z } from "zod";

import { MAX_WEBSITE_ID } from "../api/website-list.ts";
import { PRIORITY, VHID, type LocalVrrpInterface } from "../api/vrrp.ts";
import { load, type Loaded } from "../config/loading.ts";
import { createNamedFiles } from "../config/named-files.ts";
import { basicAuthSchema } from "../config/schema.ts";
import { loadYaml } from "../config/validate.ts";
import { durationSchema, fileSchema, parsed } from "../config/values.ts";
import { Secret } from "../support/secret.ts";
import { isHostName, MAX_PORT, parseListenAddress } from "../web/listen.ts";
import { DEFAULT_SETTINGS } from "./keepalived/dump.ts";
import type { ApplianceServerDeps } from "./server.ts";
import type { Website } from "./website-head.ts";

const DEFAULT_TEST_TIMEOUT_MS = 10_000;
/** Debian's keepalived. */
const DEFAULT_PID_FILE = "/run/vrrp.pid";
const DEFAULT_DUMP_DIR = "/tmp";
const DUMP_NAME = "keepalived.json";
/** With glibc. keepalived uses only real-time signals for its JSON dump. */
const SIGJSON = { min: 34, max: 64, default: 36 };
/** Shorter than the shortest interval of a poll, 1 s. */
const DEFAULT_DUMP_TIMEOUT_MS = 500;

function matching(what: string, test: (text: string) => boolean) {
  return z.string().refine(test, `expected ${what}`);
}

const port = z.int().min(1).max(MAX_PORT);
const ipAddress = matching("an IP address", (text) => isIP(text) !== 0);
const text = z.string().min(1);
const timeout = durationSchema("1ms", "1h");
const protocol = z.enum(["http", "https", "both"]);

/** A host name or an IP address, IPv6 without brackets. */
const host = matching("a host name or an IP address", (value) => isIP(value) !== 0 || isHostName(value));

const server = z.strictObject({
  protocol: protocol.default("http"),
  host,
  port,
  role: z.enum(["active", "backup", "down"]).default("active"),
});

const website = z
  .strictObject({
    id: z.int().min(1).max(MAX_WEBSITE_ID),
    protocol,
    host,
    /** Default: the host. */
    name: text.optional(),
    enabled: z.boolean().default(true),
    mode: z.enum(["pass", "protect", "detect"]).default("protect"),
    /** The addresses on which the appliance listens for it. */
    bind: z
      .array(matching("an IP address or *", (value) => value === "*" || isIP(value) !== 0))
      .default(["*"]),
    /** The servers behind it. */
    servers: z.array(server).default([]),
    http_port: port.default(80),
    https_port: port.default(443),
    path: matching("a path that starts with / and holds no blanks", (value) =>
      /^\/[!-~]*$/.test(value),
    ).default("/"),
  })
  .transform(({ http_port: httpPort, https_port: httpsPort, enabled: isEnabled, ...rest }): Website => {
    return { ...rest, name: rest.name ?? rest.host, isEnabled, httpPort, httpsPort };
  });

const websiteTest = z.strictObject({
  timeout: timeout.default(DEFAULT_TEST_TIMEOUT_MS),
  tls_config: z
    .strictObject({ ca_file: fileSchema.optional(), insecure_skip_verify: z.boolean().default(false) })
    .prefault({}),
});

const type = z.int().min(0).transform(String);

/** One VRRP interface in the API's own words; advskew follows from priority. @see management API 2.1 */
const vrrpInterface = z
  .strictObject({
    if: text,
    vip: ipAddress,
    netmask: ipAddress,
    vhid: z.int().min(VHID.min).max(VHID.max),
    priority: z.int().min(PRIORITY.min).max(PRIORITY.max),
    state_current: z.enum(["MASTER", "BACKUP"]),
    type,
    carppeer: ipAddress,
    alias: z.array(ipAddress).default([]),
  })
  .transform(({ if: device, state_current: state, carppeer: peer, ...rest }) => {
    return { device, state, peer, ...rest };
  });

const staticSource = z
  .strictObject({ source: z.literal("static"), interfaces: z.record(text, vrrpInterface) })
  .transform(({ source, interfaces }) => {
    const named = Object.entries(interfaces).map(([name, each]): LocalVrrpInterface => ({ name, ...each }));
    return { source, interfaces: named };
  });

const instance = z
  .strictObject({
    carppeer: ipAddress.default(DEFAULT_SETTINGS.peer),
    type: type.default(DEFAULT_SETTINGS.type),
  })
  .transform(({ carppeer: peer, ...rest }) => ({ peer, ...rest }));

const keepalivedSource = z
  .strictObject({
    source: z.literal("keepalived"),
    /** Of its VRRP process, or of its main process, which forwards the signal. */
    pid_file: text.default(DEFAULT_PID_FILE),
    dump_dir: text.default(DEFAULT_DUMP_DIR),
    /** The signal's number, as `keepalived --signum=JSON` prints it. */
    json_signal: z.int().min(SIGJSON.min).max(SIGJSON.max).default(SIGJSON.default),
    /** From the signal to the complete dump. */
    timeout: timeout.default(DEFAULT_DUMP_TIMEOUT_MS),
    /** Settings that the dump does not contain. */
    instances: z.record(text, instance).default({}),
  })
  .transform(({ source, pid_file: pidFile, dump_dir: folder, json_signal: signal, ...rest }) => {
    const instances = new Map(Object.entries(rest.instances));
    return { source, pidFile, dumpFile: join(folder, DUMP_NAME), signal, timeoutMs: rest.timeout, instances };
  });

/** Where the state of VRRP comes from. */
export const vrrpSchema = z.discriminatedUnion("source", [staticSource, keepalivedSource], {
  error: ({ code }) => (code === "invalid_union" ? "expected one of static, keepalived" : undefined),
});

export type VrrpConfig = z.infer<typeof vrrpSchema>;

/** The configuration of the reference appliance. */
const applianceSchema = z.strictObject({
  /** `127.0.0.1:4849`, `[::1]:4849`, `localhost:4849`, `:4849`; port 0 is any free one. */
  listen: parsed("an address like 127.0.0.1:4849", parseListenAddress),
  tls: z.strictObject({ cert_file: fileSchema, key_file: fileSchema }),
  users: z.array(basicAuthSchema).min(1),
  vrrp: vrrpSchema,
  website_test: websiteTest.prefault({}),
  websites: z.array(website).default([]),
  /** `false`: the list and the details of websites are 404, as with older firmware. */
  website_list: z.boolean().default(true),
});

/** What the configuration says, with the files that it names. */
interface ApplianceConfig extends Omit<ApplianceServerDeps, "vrrp" | "onBug"> {
  readonly vrrp: VrrpConfig;
}

/** Loads the configuration and the files that it names, or returns the errors, those of the schema first. */
export function loadApplianceConfig(path: string): Promise<Loaded<{ readonly config: ApplianceConfig }>> {
  return load(async (loading) => {
    const loaded = await loadYaml(path, applianceSchema, loading);
    if (loaded === undefined) return undefined;
    const { file, settings } = loaded;
    const files = createNamedFiles(loading);
    const { cert = "", key = "" } = await files.readKeyPair(file, ["tls"]);
    const users = settings.users.map(async ({ username, password }, index) => {
      const read = await files.read("password", file, ["users", index, "password_file"]);
      return { username, password: new Secret(password ?? read ?? "") };
    });
    const { timeout: timeoutMs, tls_config: tls } = settings.website_test;
    const config: ApplianceConfig = {
      listen: settings.listen,
      tls: { cert, key: new Secret(key) },
      users: await Promise.all(users),
      vrrp: resolvePaths(settings.vrrp, dirname(path)),
      websiteTest: {
        timeoutMs,
        ca: await files.read("certificates", file, ["website_test", "tls_config", "ca_file"]),
        insecureSkipVerify: tls.insecure_skip_verify,
      },
      websites: settings.websites,
      hasWebsiteList: settings.website_list,
    };
    return { config };
  });
}

/** `folder`: the configuration's own, which paths are relative to. */
function resolvePaths(vrrp: VrrpConfig, folder: string): VrrpConfig {
  if (vrrp.source === "static") return vrrp;
  return { ...vrrp, pidFile: resolve(folder, vrrp.pidFile), dumpFile: resolve(folder, vrrp.dumpFile) };
}
