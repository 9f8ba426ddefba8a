import type { ProxyConfig } from "../config.ts";
import { Secret } from "../../support/secret.ts";
import { show } from "../yaml/wording.ts";

const DEFAULT_PROXY_PORT = 80;
/** What follows is not linear in the length of a text. */
const MAX_URL_LENGTH = 2_048;
const TOO_LONG = `expected a URL of at most ${MAX_URL_LENGTH} characters`;

/** A setting's value in its final form, or what is wrong with it. */
export type Setting<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** Scheme, host, port and path of plain characters: a text that cannot hold credentials, and may be shown. */
const HARMLESS = /^(?:[a-z]{1,10}:\/\/)?(?:\[[0-9a-f:.]*\]|[\w.-]*)(?::\d*)?(?:\/[\w.~/-]*)?$/i;

/**
 * An appliance's URL without a trailing slash; http or https, with host, port and path alone.
 * The messages show the text only if it can hold no credentials.
 */
export function parseBaseUrl(text: string): Setting<string> {
  if (text.length > MAX_URL_LENGTH) return refuse(TOO_LONG);
  const scheme = /^https?:\/\/[^/]/i.test(text);
  if (!scheme) return refuse(`expected an https:// URL${got(text)}`);
  if (text.includes("@")) return refuse("expected a URL without credentials; they belong in basic_auth");
  if (/[?#]/.test(text)) return refuse("expected a URL without query and fragment");
  const url = parseUrl(text);
  if (!url) return refuse(`expected a URL with host, port and path${got(text)}`);
  return { ok: true, value: `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}` };
}

/**
 * A proxy's URL, `http://[user:password@]host[:port]`; the port is 80 by default. The messages show nothing of it, for
 * it may hold a password.
 */
export function parseProxyUrl(text: string): Setting<ProxyConfig> {
  if (text.length > MAX_URL_LENGTH) return refuse(TOO_LONG);
  const url = /^http:\/\//i.test(text) ? parseUrl(text) : undefined;
  const [user, password] = [decode(url?.username), decode(url?.password)];
  const isPlain = url?.pathname === "/" && !/[?#]/.test(text);
  if (!isPlain || user === undefined || password === undefined) {
    return refuse("expected a URL of the form http://[user:password@]host:port");
  }
  const credentials = user + password === "" ? undefined : new Secret(`${user}:${password}`);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { ok: true, value: { host, port: Number(url.port || DEFAULT_PROXY_PORT), credentials } };
}

function parseUrl(text: string): URL | undefined {
  // The parser drops or replaces these in silence.
  if (/[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.port === "0" ? undefined : url;
}

function decode(text = ""): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function got(text: string): string {
  return HARMLESS.test(text) ? `, got ${show(text)}` : "";
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
