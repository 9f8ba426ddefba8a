import { isIP } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { kindNamed } from "../exporter/api/kinds.ts";
import { MAX_WEBSITE_ID } from "../exporter/api/website-list.ts";
import { PRIORITY, VHID } from "../exporter/api/vrrp.ts";
import type { LocalVrrpInterface } from "./encode.ts";
import { PROTOCOLS } from "../exporter/api/website-test.ts";
import { collect } from "../exporter/config/sources.ts";
import { createNamedFiles, resolveFrom } from "../exporter/config/named-files.ts";
import { basicAuthSchema } from "../exporter/config/schema.ts";
import { loadYaml } from "../exporter/config/validate.ts";
import { durationSchema, fileSchema, parsed } from "../exporter/config/values.ts";
import { keysOf } from "../support/keys.ts";
import { Secret } from "../support/secret.ts";
import { isHostName, MAX_PORT, parseListenAddress } from "../exporter/web/listen.ts";
import { recordingSchema, replayOf } from "./replay.ts";
import { VRRP_ENCODERS, type ServedKind } from "./vrrp-encoders.ts";
import type { Website } from "./websites.ts";

/** The real-time signals of glibc, which are the only ones that keepalived uses for its JSON dump. */
const SIGJSON = { min: 34, max: 64, default: 36 };

function checked(what: string, test: (text: string) => boolean) {
  return z.string().refine(test, `expected ${what}`);
}

const port = z.int().min(1).max(MAX_PORT);
const ipAddress = checked("an IP address", (text) => isIP(text) !== 0);
const text = z.string().min(1);
const timeout = durationSchema("1ms", "1h");
const protocol = z.enum(keysOf(PROTOCOLS));

const host = checked("a host name or an IP address", (value) => isIP(value) !== 0 || isHostName(value));
const bindAddress = checked("an IP address or *", (value) => value === "*" || isIP(value) !== 0);
const urlPath = checked("a path that starts with / and holds no blanks", (value) => /^\/[!-~]*$/.test(value));

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
    /** The default name is the host. */
    name: text.optional(),
    enabled: z.boolean().default(true),
    mode: z.enum(["pass", "protect", "detect"]).default("protect"),
    bind: z.array(bindAddress).min(1).default(["*"]),
    servers: z.array(server).default([]),
    http_port: port.default(80),
    https_port: port.default(443),
    path: urlPath.default("/"),
  })
  .transform(({ http_port: httpPort, https_port: httpsPort, enabled: isEnabled, ...rest }): Website => {
    return { ...rest, name: rest.name ?? rest.host, isEnabled, httpPort, httpsPort };
  });

const websiteTest = z.strictObject({
  timeout: timeout.default(10_000),
  tls_config: z
    .strictObject({ ca_file: fileSchema.optional(), insecure_skip_verify: z.boolean().default(false) })
    .prefault({}),
});

const type = z.int().min(0).transform(String);

/** The keys are the API's own words. @see management API 2.1 */
const vrrpInterface = z
  .strictObject({
    if: text,
    vip: ipAddress,
    netmask: ipAddress,
    vhid: z.int().min(VHID.min).max(VHID.max),
    priority: z.int().min(PRIORITY.min).max(PRIORITY.max),
    state_current: z.enum(["MASTER", "BACKUP", "INIT", "DISABLED"]),
    type,
    carppeer: ipAddress,
    alias: z.array(ipAddress).default([]),
  })
  .transform(({ if: device, state_current: state, carppeer: peer, ...rest }) => {
    return { device, state, peer, ...rest };
  });

/** The keys are OPNsense's own words. */
const carp = z.strictObject({
  demotion: z.int().default(0),
  allow: z.boolean().default(true),
  maintenancemode: z.boolean().default(false),
});

const staticSource = z.strictObject({
  source: z.literal("static"),
  carp: carp.optional(),
  interfaces: z.record(text, vrrpInterface).transform((byName) => {
    return Object.entries(byName).map(([name, each]): LocalVrrpInterface => ({ name, ...each }));
  }),
});

/** Fields of the API that keepalived's dump does not contain. */
const instance = z.strictObject({ carppeer: ipAddress.default("224.0.0.18"), type: type.default("2") });

export const DEFAULT_INSTANCE = instance.parse({});

const keepalivedSource = z
  .strictObject({
    source: z.literal("keepalived"),
    /** The file names the VRRP process, or the main process, which forwards the signal. Default: the file of Debian. */
    pid_file: text.default("/run/vrrp.pid"),
    dump_dir: text.default("/tmp"),
    /** The signal's number, as `keepalived --signum=JSON` prints it. */
    json_signal: z.int().min(SIGJSON.min).max(SIGJSON.max).default(SIGJSON.default),
    /** The time from the signal to the complete dump. The default is shorter than the shortest interval of a poll, 1 s. */
    timeout: timeout.default(500),
    instances: z
      .record(text, instance)
      .transform((byName) => new Map(Object.entries(byName)))
      .prefault({}),
  })
  .transform(({ pid_file: pidFile, dump_dir: folder, json_signal: signal, timeout: timeoutMs, ...rest }) => {
    return { ...rest, pidFile, dumpFile: join(folder, "keepalived.json"), signal, timeoutMs };
  });

/** The source of the VRRP state. */
export const vrrpSchema = z.discriminatedUnion("source", [staticSource, keepalivedSource], {
  error: ({ code }) => (code === "invalid_union" ? "expected static or keepalived" : undefined),
});

export type VrrpConfig = z.infer<typeof vrrpSchema>;

const innerSchema = z.strictObject({
  listen: parsed("an address like 127.0.0.1:4849 or [::1]:4849", parseListenAddress),
  tls: z.strictObject({ cert_file: fileSchema, key_file: fileSchema }),
  users: z.array(basicAuthSchema).min(1),
  kind: z.enum(keysOf(VRRP_ENCODERS)).default("management_api"),
  vrrp: vrrpSchema,
  website_test: websiteTest.prefault({}),
  websites: z.array(website).default([]),
  /** If this is `false`, the list and the details of websites are 404, as with older firmware. */
  website_list: z.boolean().default(true),
  /** A file that `poll --record` wrote. Its answers take precedence. */
  replay_file: fileSchema.optional(),
});

export const applianceSchema = innerSchema
  .refine(({ kind, websites }) => websites.length === 0 || hasWebsites(kind), {
    path: ["websites"],
    error: "expected no websites: appliances of this kind have none",
  })
  .refine(({ kind, vrrp }) => kind === "opnsense" || vrrp.source !== "static" || vrrp.carp === undefined, {
    path: ["vrrp", "carp"],
    error: "expected this block with kind: opnsense only",
  });

function hasWebsites(kind: ServedKind): boolean {
  return kindNamed(kind).operations.website_test !== undefined;
}

/** Loads the configuration and the files that it names, or returns all errors. */
export function loadApplianceConfig(path: string) {
  return collect(async (collector) => {
    const loaded = await loadYaml(path, applianceSchema, collector);
    if (loaded === undefined) return undefined;
    const { file, settings } = loaded;
    const files = createNamedFiles(collector);
    const { cert = "", key = "" } = await files.readKeyPair(loaded, "tls");
    const users = settings.users.map(async ({ username, password }, index) => {
      const read = await files.read("password", loaded, "users", index, "password_file");
      return { username, password: new Secret(password ?? read ?? "") };
    });
    const { timeout: timeoutMs, tls_config: tls } = settings.website_test;
    const { kind, vrrp, replay_file: replayFile } = settings;
    const recording =
      replayFile === undefined
        ? undefined
        : await loadYaml(resolveFrom(file, replayFile), recordingSchema, collector);
    const config = {
      listen: settings.listen,
      tls: { cert, key: new Secret(key) },
      users: await Promise.all(users),
      kind,
      vrrp:
        vrrp.source === "static"
          ? vrrp
          : { ...vrrp, pidFile: resolveFrom(file, vrrp.pidFile), dumpFile: resolveFrom(file, vrrp.dumpFile) },
      websiteTest: {
        timeoutMs,
        ca: await files.read("certificates", loaded, "website_test", "tls_config", "ca_file"),
        insecureSkipVerify: tls.insecure_skip_verify,
      },
      websites: settings.websites,
      hasWebsiteList: settings.website_list && hasWebsites(kind),
      replay: recording && replayOf(recording.settings),
    };
    return { config };
  });
}
