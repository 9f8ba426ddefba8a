import { SKEW_OF_PRIORITY_ZERO, type VrrpInterface } from "../exporter/api/vrrp.ts";
import { MODES, ROLES, YES_NO, type Backend, type WebsiteDetails } from "../exporter/api/website-details.ts";
import { RULE, type Protocol, type ProtocolSetting } from "../exporter/api/website-test.ts";

/** An interface on the appliance itself, where advskew follows from priority. */
export interface LocalVrrpInterface extends Omit<
  VrrpInterface,
  "isOutOfOrder" | "advskew" | "aliases" | "configuredRole"
> {
  /** The code of the configured role, as it is sent. */
  readonly type: string;
  readonly priority: number;
  readonly alias: readonly string[];
}

type Defined<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** The details of a website of the appliance itself, where all is known. */
export interface LocalWebsiteDetails extends Defined<Omit<WebsiteDetails, "backends" | "invalid">> {
  readonly id: number;
  readonly backends: readonly LocalBackend[];
}

export interface LocalBackend extends Defined<Omit<Backend, "address">> {
  readonly protocol: ProtocolSetting;
  readonly host: string;
  readonly port: number;
}

/** The lines that an appliance writes for one protocol: status line and header lines, or an error text. */
export interface WebsiteAnswer {
  readonly protocol: Protocol;
  readonly lines: readonly string[];
}

/** Encodes a list as specified: strings only, fields in the specification's order, `{}` if empty. Names must be unique. */
export function encodeVrrpList(interfaces: readonly LocalVrrpInterface[]): string {
  const members = interfaces.map((each) => {
    const details = {
      advskew: String(SKEW_OF_PRIORITY_ZERO - each.priority),
      alias: each.alias,
      carppeer: each.peer,
      if: each.device,
      netmask: each.netmask,
      priority: String(each.priority),
      state_current: each.state,
      type: each.type,
      vhid: String(each.vhid),
      vip: each.vip,
    };
    return `${JSON.stringify(each.name)}:${JSON.stringify(details)}`;
  });
  return `{${members.join(",")}}`;
}

/** Encodes a list as specified: strings, ascending; `[]` if there are none. */
export function encodeWebsiteList(ids: readonly number[]): string {
  return JSON.stringify(ids.toSorted((a, b) => a - b).map(String));
}

/** Encodes details as specified: strings only, members sorted by name, slashes escaped as `\/`. */
export function encodeWebsiteDetails(website: LocalWebsiteDetails): string {
  const { id, name, host, port, secondPort, protocol, mode, isEnabled, bind, backends } = website;
  const details = {
    bind,
    deployment: "1",
    id: String(id),
    mirror_of: "0",
    mode: codeOf(MODES, mode),
    name,
    rhost: backends.map((backend) => [
      backend.protocol,
      backend.host,
      String(backend.port),
      codeOf(ROLES, backend.role),
      codeOf(YES_NO, backend.isOk),
      "443",
    ]),
    sec: { ts: "1" },
    status: codeOf(YES_NO, isEnabled),
    vhost: {
      as: "",
      name: host,
      port: String(port),
      port2: protocol === "both" ? String(secondPort) : "",
      proto: protocol,
      proxy_protocol_enabled: "0",
    },
  };
  return JSON.stringify(details).replaceAll("/", String.raw`\/`);
}

function codeOf<T>(meanings: Readonly<Record<string, T>>, wanted: T): string {
  return Object.entries(meanings).find(([, meaning]) => meaning === wanted)?.[0] ?? "";
}

/**
 * Returns the text of a website test. Every line ends with LF, every block with a blank line. Whatever the website sent, no line can
 * contain a line break or look like a marker. Blank lines are dropped.
 */
export function formatWebsiteTest(blocks: readonly WebsiteAnswer[]): string {
  return blocks.map(formatBlock).join("");
}

function formatBlock({ protocol, lines }: WebsiteAnswer): string {
  const body = lines.map(formatLine).filter((line) => line.trim() !== "");
  return [`HTTP CONNECT ${RULE} ${protocol.toUpperCase()}`, ...body, "", ""].join("\n");
}

function formatLine(line: string): string {
  const flat = line.replaceAll(/[\r\n]/g, " ");
  // A marker counts only at the very start of a line. Its dashes may be on the next line.
  return /^HTTPS? CONNECT/.test(flat) ? ` ${flat}` : flat;
}

/** Returns the text as a JSON string, with slashes escaped as `\/`. @see management API 4.2 */
export function encodeWebsiteTest(blocks: readonly WebsiteAnswer[]): string {
  return JSON.stringify(formatWebsiteTest(blocks)).replaceAll("/", String.raw`\/`);
}
