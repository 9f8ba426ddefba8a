import { isIP } from "node:net";
import { Document, isMap, isScalar } from "yaml";
import { DEFAULT_KIND, kindNamed, type KindName } from "../api/kinds.ts";
import { bareHost } from "../../support/address.ts";
import { applianceNameSchema } from "../config/schema.ts";
import { printable } from "../../support/text.ts";

/** An appliance as the user names it: `waf-ams-1=https://192.0.2.11:4849`, or less of that. */
export interface Wanted {
  readonly name: string;
  readonly baseUrl: string;
  /** Whether the name is only the address. */
  readonly isUnnamed: boolean;
}

export type WantedResult =
  | { readonly ok: true; readonly wanted: Wanted }
  | { readonly ok: false; readonly message: string };

/** Whether an argument is an appliance and no folder: it has a scheme, a port, brackets, a name before `=`, or is a name with dots. */
export function looksLikeAppliance(text: string): boolean {
  return /^\[|:\/\/|=|:\d+$|^[^./][^/]*\.[^/]+$/.test(text);
}

function refused(message: string): WantedResult {
  return { ok: false, message };
}

/** Parses an appliance. Without a scheme it is https, without a port that of its kind. */
export function parseWanted(text: string, kind: KindName): WantedResult {
  const [, given, rest = text] = /^([^=/:]+)=(.*)$/s.exec(text) ?? [];
  if (/^http:/i.test(rest))
    return refused("write https://: over http://, everybody in between could read the password");
  const full = /^[a-z]+:\/\//i.test(rest) ? rest : `https://${rest}`;
  const url = /^https:\/\/[^\s\\?#@]+$/i.test(full) && URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined)
    return refused(
      "expected NAME=https://HOST:PORT, of which HOST is enough, without credentials and query; an IPv6 address in brackets",
    );
  const hasPort = /^https:\/\/(?:\[[^\]]*\]|[^/:]*):\d/i.test(full);
  if (!hasPort) url.port = String(kindNamed(kind).port);
  const host = bareHost(url.hostname);
  const isAddress = isIP(host) !== 0 || host === "localhost";
  const [label = host] = host.split(".");
  const name = given?.trim() ?? (isAddress ? host : label);
  if (!applianceNameSchema.safeParse(name).success)
    return refused("expected a name without # at the start and without control characters");
  const baseUrl = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
  return { ok: true, wanted: { name, baseUrl, isUnnamed: given === undefined && isAddress } };
}

/** Returns the appliances, those with the same name named by their URL without its scheme. */
export function withDistinctNames(all: readonly Wanted[]): readonly Wanted[] {
  return all.map((each) => {
    const isTaken = all.some((other) => other !== each && other.name === each.name);
    return isTaken ? { ...each, name: each.baseUrl.replace(/^https:\/\//, "") } : each;
  });
}

/** Returns what the names of members have in common, `waf-ams` of `waf-ams-1` and `waf-ams-2`; `cluster` if that is nothing. */
export function clusterNameOf(all: readonly Wanted[]): string {
  const names = all.map(({ name }) => name);
  const [first = ""] = names;
  const differsAt = Array.from(first).findIndex((char, at) => names.some((name) => name[at] !== char));
  const common = (differsAt === -1 ? first : first.slice(0, differsAt)).replace(/[-_. ]*\d*[-_. ]*$/, "");
  const isPlain = /^[a-z]/i.test(common) && !names.includes(common) && all.every((each) => !each.isUnnamed);
  return isPlain ? common : "cluster";
}

/** A website as one of the appliances lists it. */
export interface ListedWebsite {
  readonly id: number;
  readonly name: string;
}

/** What a first configuration says. */
export interface FirstConfig {
  readonly kind: KindName;
  readonly cluster: string;
  readonly appliances: readonly Pick<Wanted, "name" | "baseUrl">[];
  readonly username: string;
  /** Relative to the configuration. */
  readonly passwordFile: string;
  /** `undefined` if no appliance lists its websites, or their kind has none. */
  readonly websites: readonly ListedWebsite[] | undefined;
}

const HEAD = ` The appliances that appliance-exporter polls. config.example.yaml shows every key.
 A running exporter loads a change within 30 seconds. To check it first: appliance-exporter check --live
 Their certificates are in the file known_certificates. When one is renewed: appliance-exporter trust`;
const MAX_SHOWN = 5;

/** Returns the text of a configuration. */
export function firstConfigText(config: FirstConfig): string {
  const { kind, cluster, username, passwordFile, websites } = config;
  const appliances = config.appliances.map(({ name, baseUrl }) => ({ name, base_url: baseUrl }));
  const isAlone = appliances.length === 1;
  const document = new Document({
    http_client: { basic_auth: { username, password_file: passwordFile } },
    ...(kind === DEFAULT_KIND ? {} : { kind }),
    ...(kindNamed(kind).operations.website_list && { website_discovery: websites !== undefined }),
    ...(isAlone ? { appliances } : { clusters: [{ name: cluster, appliances }] }),
  });
  document.commentBefore = HEAD;
  comment(document, ["http_client", "basic_auth", "password_file"], "read again when it changes");
  comment(document, ["website_discovery"], websitesComment(websites));
  if (!isAlone) comment(document, ["clusters", 0, "name"], "appliances that back each other up");
  const { contents } = document;
  const [, ...others] = isMap(contents) ? contents.items : [];
  for (const { key } of others) if (isScalar(key)) key.spaceBefore = true;
  return document.toString({ lineWidth: 0 });
}

function comment(document: Document, path: readonly (string | number)[], text: string): void {
  const node: unknown = document.getIn(path, true);
  if (isScalar(node)) node.comment = ` ${printable(text).replace(/\s+/g, " ")}`;
}

function websitesComment(websites: FirstConfig["websites"]): string {
  if (websites === undefined)
    return "the appliances do not list their websites; name them in an appliance, such as websites: [1, 2]";
  const shown = websites
    .slice(0, MAX_SHOWN)
    .map(({ id, name }) => (name === "" ? `${id}` : `${name} (${id})`));
  const more = websites.length > shown.length ? [`${websites.length - shown.length} more`] : [];
  const found = websites.length === 0 ? "none" : [...shown, ...more].join(", ");
  return `tests what the appliances list; at first: ${found}`;
}
