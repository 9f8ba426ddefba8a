import type { X509Certificate } from "node:crypto";
import { plainAddress } from "../../support/address.ts";

/** An entry in the text of Node.js; values with commas or quotes are JSON strings. */
const ENTRY = /(DNS|IP Address|URI|email|[\w .]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/y;

/**
 * Returns the subject alternative names of a certificate: DNS names, addresses, URIs and mail addresses. A text that is not read to its
 * end has none.
 *
 * @see X509Certificate.subjectAltName
 */
export function alternativeNames({
  subjectAltName = "",
}: Pick<X509Certificate, "subjectAltName">): readonly string[] {
  const names: string[] = [];
  let read = 0;
  for (const [entry, kind = "", value = ""] of subjectAltName.matchAll(new RegExp(ENTRY, "gy"))) {
    read += entry.length;
    const text = value.startsWith('"') ? parsed(value) : value;
    if (text !== undefined && /^(DNS|URI|email)$/.test(kind)) names.push(text);
    if (text !== undefined && kind === "IP Address") names.push(plainAddress(text));
  }
  return read === subjectAltName.length ? names : [];
}

function parsed(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a certificate has one of these names. Addresses are equal however they are written. */
export function hasName(
  certificate: Pick<X509Certificate, "subjectAltName">,
  allowed: readonly string[],
): boolean {
  const names = new Set(alternativeNames(certificate));
  return allowed.some((name) => names.has(name) || names.has(plainAddress(name)));
}
