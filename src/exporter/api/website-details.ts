import { hash } from "node:crypto";
import { canonicalAddress, isAddress, urlHost } from "../../support/address.ts";
import { anonymizeAddress, kept, listOf, nameOf, objectOf, rowOf, structure } from "./anonymize.ts";
import type { Outcome } from "./failure.ts";
import {
  isJsonObject,
  isUnknown,
  kindOf,
  oneOf,
  parseJson,
  readInteger,
  readList,
  readText,
  rejected,
} from "./json.ts";
import type { ApiOperation } from "./operation.ts";
import { cutText, type Redact } from "./text.ts";
import type { ProtocolSetting } from "./website-test.ts";

export type WebsiteMode = "pass" | "protect" | "detect";
export type BackendRole = "active" | "backup" | "down";

/**
 * The description of a website by an appliance. Texts are redacted and cut, and empty if not known. Other members are `undefined` if not
 * known.
 */
export interface WebsiteDetails {
  readonly name: string;
  readonly host: string;
  /** The main port, 1 to 65535; the port of HTTPS if the protocol is `both`. */
  readonly port: number | undefined;
  /** The HTTP port, if the protocol is `both`. */
  readonly secondPort: number | undefined;
  readonly protocol: ProtocolSetting | undefined;
  readonly mode: WebsiteMode | undefined;
  readonly isEnabled: boolean | undefined;
  /**
   * The addresses on which the appliance listens for the website, in canonical text, 1 to 64. `*` stands for all addresses. More than 64
   * are not known.
   */
  readonly bind: readonly string[] | undefined;
  readonly backends: Backends | undefined;
  /** The JSON paths of members that cannot be read, at most 64: `$.vhost.port`. */
  readonly invalid: readonly string[];
}

/** The servers behind a website. A server is in service if it is active or backup, and not taken out by hand. */
export interface Backends {
  /** At most 32 servers: those in service with an error first, then in the order of the answer. */
  readonly shown: readonly Backend[];
  /** The number of servers that are not shown. */
  readonly leftOut: number;
  /** The number of servers in service that are OK; `failed` counts those with an error. */
  readonly usable: number;
  readonly failed: number;
  /** The number of servers that may be in service and OK, but for which this is not known, including unreadable ones. */
  readonly uncertain: number;
  /** A digest of the servers. Equal digests mean equal sets of addresses; `undefined` if a server cannot be read. */
  readonly digest: string | undefined;
}

export interface Backend {
  /** The address `192.0.2.81:8080` or `[2001:db8::1]:443`; only the host if the port is not known. */
  readonly address: string;
  /** The role; `down` means that the server was taken out of service by hand. */
  readonly role: BackendRole | undefined;
  /** `false` if the appliance saw an error, `true` if it knows of none. */
  readonly isOk: boolean | undefined;
}

/** The highest number of servers, and of addresses. */
const MAX_ITEMS = 1024;
const MAX_SHOWN = 32;
const MAX_ADDRESSES = 64;
const MAX_INVALID = 64;
const PORT = { min: 1, max: 65_535 };

const PROTOCOLS = { http: "http", https: "https", both: "both" } as const;
/** @see management API 2.3 */
export const MODES = { 0: "pass", 1: "protect", 3: "detect" } as const;
/** @see management API 2.4 */
export const ROLES = { 1: "active", 2: "backup", 3: "down" } as const;
export const YES_NO = { 0: false, 1: true } as const;

/** The operation describes how a website is protected, and the servers behind it. @see management API 4.4 */
export const WEBSITE_DETAILS = {
  path: (websiteId = 0) => `/api/v1/website/${websiteId}`,
  limitBytes: 256 * 1024,
  decode: decodeWebsiteDetails,
  anonymize: objectOf({
    // The decoder does not read this member, and an object that the API does not have may identify a license by it.
    id: structure,
    name: nameOf("site"),
    status: kept(oneOf(YES_NO)),
    mode: kept(oneOf(MODES)),
    bind: listOf(anonymizeAddress),
    vhost: objectOf({
      proto: kept(oneOf(PROTOCOLS)),
      name: anonymizeAddress,
      port: kept(toPort),
      port2: kept(toPort),
    }),
    rhost: listOf(
      rowOf(
        kept(oneOf(PROTOCOLS)),
        anonymizeAddress,
        kept(toPort),
        kept(oneOf(ROLES)),
        kept(oneOf(YES_NO)),
        kept(toPort),
      ),
    ),
  }),
  // Firmware without details answers with 404 for every website.
  statuses: { 404: "gone" },
} as const satisfies ApiOperation<WebsiteDetails>;

/**
 * Decodes the details of a website. Anything but an object is `decode`, more than 1,024 servers or addresses are `too_large`. A member that
 * is missing, null or empty is not known. A member that cannot be read is not known either, and is listed in `invalid`.
 * @see management API 2.3, 4.4
 */
export function decodeWebsiteDetails(body: Uint8Array, redact: Redact): Outcome<WebsiteDetails> {
  const parsed = parseJson(body);
  if (!parsed.ok) return parsed;
  const { value, repeated } = parsed.value;
  if (!isJsonObject(value)) return rejected("decode", `expected an object, got ${kindOf(value)}`);
  const lists = [value["rhost"], value["bind"]];
  if (lists.some((list) => Array.isArray(list) && list.length > MAX_ITEMS))
    return rejected("too_large", `expected at most ${MAX_ITEMS} servers and addresses`);
  const keep = (text: string): string => cutText(redact(text));
  const invalid = new Set(repeated.map((key) => `$..${keep(key)}`));
  const read = readerOf(value, "$", invalid);
  const readVhost = readerOf(read("vhost", toObject), "$.vhost", invalid);
  const protocol = readVhost("proto", oneOf(PROTOCOLS));
  const details = {
    name: keep(read("name", toText) ?? ""),
    host: keep(readVhost("name", toText) ?? ""),
    port: readVhost("port", toPort),
    secondPort: protocol === "both" ? readVhost("port2", toPort) : undefined,
    protocol,
    mode: read("mode", oneOf(MODES)),
    isEnabled: read("status", oneOf(YES_NO)),
    bind: addressesOf(read("bind", toNonEmptyList), readerOf(value["bind"], "$.bind", invalid), keep),
    backends: gathered(
      read("rhost", readList)?.map((row, index) => {
        const path = `$.rhost[${index}]`;
        const backend = backendOf(readerOf(row, path, invalid), keep);
        if (backend === undefined) invalid.add(`${path}[1]`);
        return backend;
      }),
    ),
  };
  return { ok: true, value: { ...details, invalid: [...invalid].slice(0, MAX_INVALID) } };
}

/** Returns the addresses in a list; `undefined` unless all of them can be read. */
function addressesOf(
  list: readonly unknown[] | undefined,
  read: Read,
  keep: Redact,
): readonly string[] | undefined {
  const addresses = list?.map((_, nth) => read(nth, (value) => toAddress(keep(readText(value)))));
  const isWhole = addresses?.every((address) => address !== undefined) === true;
  return isWhole && addresses.length <= MAX_ADDRESSES ? addresses : undefined;
}

function toAddress(text: string): string | undefined {
  return text === "*" || isAddress(text) ? canonicalAddress(text) : undefined;
}

/** Returns the servers to show and the numbers of servers. An `undefined` in the list is a server that cannot be read. */
export function gathered(all: readonly (Backend | undefined)[] | undefined): Backends | undefined {
  if (all === undefined) return undefined;
  const known = all.filter((each) => each !== undefined);
  const failed = known.filter((each) => isInService(each) && each.isOk === false);
  const others = known.filter((each) => !(isInService(each) && each.isOk === false));
  const shown = [...failed, ...others].slice(0, MAX_SHOWN);
  // A failing server of an unknown role is not usable, whatever its role is.
  const uncertain = others.filter(({ role, isOk }) =>
    role === undefined ? isOk !== false : role !== "down" && isOk === undefined,
  );
  const unreadable = all.length - known.length;
  return {
    shown,
    leftOut: known.length - shown.length,
    usable: others.filter((each) => isInService(each) && each.isOk === true).length,
    failed: failed.length,
    uncertain: uncertain.length + unreadable,
    digest: unreadable > 0 ? undefined : digestOf(known),
  };
}

function isInService({ role }: Backend): boolean {
  return role === "active" || role === "backup";
}

function digestOf(backends: readonly Backend[]): string {
  const addresses = new Set(backends.map(({ address }) => address.toLowerCase()));
  return hash("sha256", JSON.stringify([...addresses].toSorted()), "base64");
}

/** Reads a row of `rhost`, where the position of a member defines its meaning; `undefined` without a host. @see management API 2.4 */
function backendOf(read: Read, keep: Redact): Backend | undefined {
  const host = canonicalAddress(keep(read(1, toText) ?? ""));
  if (host === "") return undefined;
  const port = read(2, toPort);
  const address = port === undefined ? host : `${urlHost(host)}:${port}`;
  return { address, role: read(3, oneOf(ROLES)), isOk: read(4, oneOf(YES_NO)) };
}

/** Reads a member that is known. A member that `from` cannot read is reported. */
type Read = <T>(key: string | number, from: (value: unknown) => T | undefined) => T | undefined;

function readerOf(of: unknown, path: string, invalid: Set<string>): Read {
  return (key, from) => {
    const value: unknown =
      typeof of === "object" && of !== null && Object.hasOwn(of, key) ? Reflect.get(of, key) : undefined;
    if (isUnknown(value)) return undefined;
    const read = from(value);
    if (read === undefined) invalid.add(typeof key === "number" ? `${path}[${key}]` : `${path}.${key}`);
    return read;
  };
}

function toText(value: unknown): string | undefined {
  return readText(value) || undefined;
}

function toPort(value: unknown): number | undefined {
  return readInteger(value, PORT);
}

function toNonEmptyList(value: unknown): readonly unknown[] | undefined {
  const list = readList(value);
  return list?.length === 0 ? undefined : list;
}

function toObject(value: unknown): unknown {
  return isJsonObject(value) ? value : undefined;
}
