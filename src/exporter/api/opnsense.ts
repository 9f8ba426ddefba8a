import { isAddress } from "../../support/address.ts";
import { anonymizeAddress, kept, listOf, nameOf, objectOf, structure } from "./anonymize.ts";
import type { Outcome } from "./failure.ts";
import {
  isJsonObject,
  isUnknown,
  kindOf,
  oneOf,
  parseJson,
  readInteger,
  readList,
  rejected,
} from "./json.ts";
import type { ApplianceKind } from "./kind.ts";
import type { ApiOperation } from "./operation.ts";
import { cutText, type Redact } from "./text.ts";
import {
  isKnownState,
  KNOWN_STATES,
  MAX_INTERFACES,
  SKEW_OF_PRIORITY_ZERO,
  VHID,
  type VrrpAnomaly,
  type VrrpInterface,
  type VrrpList,
} from "./vrrp.ts";

const MAX_ROWS = 4096;
const SKEW = { min: 0, max: 254 };
const BASE = { min: 0, max: 255 };
/** The default of `advbase`. Members with different ones are not in the order of their skews. */
const USUAL_BASE = 1;
const DEMOTION = { min: -(2 ** 31), max: 2 ** 31 - 1 };
const toSwitch = oneOf({ 0: false, 1: true, false: false, true: true });

/** The CARP addresses of an OPNsense firewall, and the state of CARP as a whole. Earlier releases than 25.7 were not looked at. */
const VIP_STATUS = {
  path: () => "/api/diagnostics/interface/get_vip_status",
  limitBytes: 1024 * 1024,
  decode: decodeVipStatus,
  anonymize: objectOf({
    total: structure,
    rowCount: structure,
    current: structure,
    rows: listOf(
      objectOf({
        interface: (value, number) => nameOf("if")(namedAsOne(value), number),
        vhid: kept((value) => readInteger(value, VHID)),
        advbase: kept((value) => readInteger(value, BASE)),
        advskew: kept((value) => readInteger(value, SKEW)),
        subnet: anonymizeAddress,
        status: (value, number) => (KNOWN_STATES.has(value) ? value : structure(value, number)),
        mode: (value, number) => (value === "carp" || value === "ipalias" ? value : structure(value, number)),
        status_txt: structure,
        vhid_txt: structure,
      }),
    ),
    carp: objectOf({
      demotion: kept((value) => readInteger(value, DEMOTION)),
      allow: kept(readSwitch),
      maintenancemode: kept(readSwitch),
      status_msg: structure,
    }),
  }),
  statuses: { 404: "gone" },
} as const satisfies ApiOperation<VrrpList>;

/** OPNsense, whose CARP is a relative of VRRP. */
export const OPNSENSE = {
  operations: { vrrp: VIP_STATUS },
  port: 443,
  since: "OPNsense 25.7",
  permission: 'the privilege "Interfaces: Virtual IPs: Status"',
} as const satisfies ApplianceKind;

/**
 * Decodes the CARP addresses. The rows with one VHID of one interface are one `VrrpInterface`: the first address with the mode `carp` is its
 * VIP, the others are its aliases. Anything without a list of rows is `decode`, and so is an answer by which nothing of CARP is known; more
 * than 4,096 rows, or 1,024 VHIDs, are `too_large`. A VHID whose rows cannot be read, or contradict each other, is `bad_interface`. The texts that OPNsense translates are not read.
 */
function decodeVipStatus(body: Uint8Array, redact: Redact): Outcome<VrrpList> {
  const parsed = parseJson(body);
  if (!parsed.ok) return parsed;
  const { value: answer, repeated } = parsed.value;
  const rows = isJsonObject(answer) ? readList(answer["rows"]) : undefined;
  if (!isJsonObject(answer) || rows === undefined)
    return rejected("decode", `expected an object with a list of rows, got ${kindOf(answer)}`);
  if (rows.length > MAX_ROWS) return rejected("too_large", `expected at most ${MAX_ROWS} rows`);
  const { byVhid, unnamed } = placed(rows);
  if (byVhid.size > MAX_INTERFACES) return rejected("too_large", `expected at most ${MAX_INTERFACES} VHIDs`);
  const keep = (text: string): string => cutText(redact(text));
  const carp = readCarp(answer["carp"]);
  const states = [...byVhid.values()].flat().map(({ status }) => status);
  // An OPNsense that cannot ask its own backend says DISABLED of all VHIDs, and nothing of CARP.
  if (carp.isEmpty && states.length > 0 && states.every((state) => state === "DISABLED"))
    return rejected("decode", "expected the state of CARP, got DISABLED for all and nothing of CARP");
  const interfaces = new Map<string, VrrpInterface>();
  const unreadable = new Set<string>();
  const anomalies: VrrpAnomaly[] = [
    ...repeated.map(() => "bad_field" as const),
    ...carp.anomalies,
    ...Array.from({ length: unnamed }, () => "bad_interface" as const),
  ];
  for (const [place, own] of byVhid) {
    const name = keep(place);
    const isDouble = interfaces.has(name) || unreadable.has(name);
    const read = isDouble ? undefined : readVhid(name, own, carp.demotion, keep);
    if (read !== undefined) interfaces.set(name, read.vhid);
    else if (!isDouble) unreadable.add(name);
    anomalies.push(...(read?.anomalies ?? (["bad_interface"] as const)));
  }
  const { demotion, restraint } = carp;
  const value = { interfaces: [...interfaces.values()], unreadable: [...unreadable], anomalies };
  return { ok: true, value: { ...value, hasUnnamed: unnamed > 0, demotion, restraint } };
}

type CarpRow = Readonly<Record<string, unknown>>;

/**
 * Returns the rows by interface and VHID, `LAN/1`, and the number of rows without one of these. Addresses with another mode than `carp` that
 * have no VHID are no part of CARP.
 */
function placed(rows: readonly unknown[]): {
  readonly byVhid: ReadonlyMap<string, readonly CarpRow[]>;
  readonly unnamed: number;
} {
  const byVhid = new Map<string, CarpRow[]>();
  let unnamed = 0;
  for (const row of rows) {
    if (isJsonObject(row) && isUnknown(row["vhid"]) && !isCarp(row)) continue;
    const [device, vhid] = isJsonObject(row) ? [deviceOf(row), readVhidOf(row)] : [""];
    if (!isJsonObject(row) || device === "" || vhid === undefined) {
      unnamed += 1;
      continue;
    }
    const place = `${device}/${vhid}`;
    const own = byVhid.get(place);
    if (own === undefined) byVhid.set(place, [row]);
    else own.push(row);
  }
  return { byVhid, unnamed };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function deviceOf(row: CarpRow): string {
  return textOf(namedAsOne(row["interface"]));
}

/** An interface without a description has its identifier as name, in small letters except where the VHID is DISABLED. */
function namedAsOne(name: unknown): unknown {
  return typeof name === "string" && /^(?:lan|wan|opt\d+)$/.test(name) ? name.toUpperCase() : name;
}

function isCarp({ mode }: CarpRow): boolean {
  return isUnknown(mode) || mode === "carp";
}

function readVhidOf({ vhid }: CarpRow): number | undefined {
  return readInteger(vhid, VHID);
}

/**
 * Reads the rows of a VHID of an interface; `undefined` unless they show one state and a VIP. The priority is 254 - advskew. It is not known where
 * a demotion, or another `advbase`, decides which member wins.
 */
function readVhid(
  name: string,
  rows: readonly CarpRow[],
  demotion: number | undefined,
  keep: Redact,
): { readonly vhid: VrrpInterface; readonly anomalies: readonly VrrpAnomaly[] } | undefined {
  const own = rows.filter(isCarp);
  const others = rows.filter((row) => !isCarp(row));
  const [first, ...more] = own;
  const vhid = first && readVhidOf(first);
  const state = first?.["status"];
  const isReadable =
    own.every((row) => row["status"] === state && textOf(row["subnet"]) !== "") &&
    others.every(({ mode }) => mode === "ipalias");
  if (first === undefined || vhid === undefined || typeof state !== "string" || state === "" || !isReadable)
    return undefined;
  const vip = keep(textOf(first["subnet"]));
  const addresses = [...more, ...others].map((row) => keep(textOf(row["subnet"])));
  const aliases = addresses.includes("") ? undefined : [...new Set(addresses)];
  const advskew = readInteger(first["advskew"], SKEW);
  const advbase = isUnknown(first["advbase"]) ? USUAL_BASE : readInteger(first["advbase"], BASE);
  const isInOrder = demotion === 0 && advbase === USUAL_BASE && advskew !== undefined;
  const unreadable = [advskew, advbase, aliases].filter((value) => value === undefined);
  const noAddresses = [vip, ...(aliases ?? [])].filter((text) => !isAddress(text));
  const anomalies: VrrpAnomaly[] = [...unreadable, ...noAddresses].map(() => "bad_field");
  if (!isKnownState(state)) anomalies.push("unknown_state");
  return {
    vhid: {
      name,
      state: isKnownState(state) ? state : keep(state),
      vhid,
      vip,
      priority: isInOrder ? SKEW_OF_PRIORITY_ZERO - advskew : undefined,
      isOutOfOrder: !isInOrder,
      advskew,
      aliases,
      device: keep(deviceOf(first)),
      netmask: "",
      peer: "",
      configuredRole: undefined,
    },
    anomalies,
  };
}

/** Reads what `carp` says of the firewall as a whole. It may be missing, or empty. */
function readCarp(value: unknown): Pick<VrrpList, "demotion" | "restraint"> & {
  readonly anomalies: readonly VrrpAnomaly[];
  readonly isEmpty: boolean;
} {
  const anomalies: VrrpAnomaly[] = [];
  const isEmpty =
    isUnknown(value) || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  if (!isEmpty && !isJsonObject(value)) anomalies.push("bad_field");
  const of = isJsonObject(value) ? value : {};
  function read<T>(key: string, from: (value: unknown) => T | undefined): T | undefined {
    const found = isUnknown(of[key]) ? undefined : from(of[key]);
    if (found === undefined && !isUnknown(of[key])) anomalies.push("bad_field");
    return found;
  }
  const demotion = read("demotion", (each) => readInteger(each, DEMOTION));
  const isAllowed = read("allow", readSwitch);
  const isInMaintenance = read("maintenancemode", readSwitch);
  const restraint =
    isInMaintenance === true ? "maintenance_mode" : isAllowed === false ? "carp_disabled" : undefined;
  return { demotion, restraint, anomalies, isEmpty };
}

function readSwitch(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : toSwitch(value);
}
