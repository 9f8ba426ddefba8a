import { createSecureContext, getCiphers } from "node:tls";

/**
 * OpenSSL's names of the cipher suites that a web configuration names as Go does. Those of TLS 1.3 have the same name, and are always
 * offered, as in Go.
 */
const CIPHERS = {
  TLS_AES_128_GCM_SHA256: "TLS_AES_128_GCM_SHA256",
  TLS_AES_256_GCM_SHA384: "TLS_AES_256_GCM_SHA384",
  TLS_CHACHA20_POLY1305_SHA256: "TLS_CHACHA20_POLY1305_SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: "DES-CBC3-SHA",
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: "ECDHE-RSA-DES-CBC3-SHA",
} as const satisfies Readonly<Record<string, string>>;

const CURVES = {
  CurveP256: "P-256",
  CurveP384: "P-384",
  CurveP521: "P-521",
  X25519: "X25519",
  X25519MLKEM768: "X25519MLKEM768",
  SecP256r1MLKEM768: "SecP256r1MLKEM768",
  SecP384r1MLKEM1024: "SecP384r1MLKEM1024",
} as const satisfies Readonly<Record<string, string>>;

export type GoCipher = keyof typeof CIPHERS;
export type GoCurve = keyof typeof CURVES;

export function isGoCipher(name: string): name is GoCipher {
  return Object.hasOwn(CIPHERS, name);
}

export function isGoCurve(name: string): name is GoCurve {
  return Object.hasOwn(CURVES, name);
}

/** The names of OpenSSL for those of Go, in their order, and the names that this OpenSSL lacks. */
export interface Translation {
  readonly known: readonly string[];
  readonly lacking: readonly string[];
}

function translate<Name extends string>(
  names: readonly Name[],
  table: Readonly<Record<Name, string>>,
  has: (name: string) => boolean,
): Translation {
  const known = names.filter((name) => has(table[name]));
  return { known: known.map((name) => table[name]), lacking: names.filter((name) => !has(table[name])) };
}

/** In the order of Node.js. */
const TLS13 = ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];

/** Translates cipher suites of TLS 1.2 and older. Those of TLS 1.3 are left out: a list changes nothing about them. */
export function translateCiphers(names: readonly GoCipher[]): Translation {
  const offered = new Set(getCiphers());
  const older = names.filter((name) => !TLS13.includes(name));
  return translate(older, CIPHERS, (name) => offered.has(name.toLowerCase()));
}

/** Returns the list for OpenSSL: the cipher suites of TLS 1.3, and these for older versions. */
export function cipherList(older: readonly string[]): string {
  return [...TLS13, ...older].join(":");
}

export function translateCurves(names: readonly GoCurve[]): Translation {
  return translate(names, CURVES, hasCurve);
}

function hasCurve(name: string): boolean {
  try {
    createSecureContext({ ecdhCurve: name });
    return true;
  } catch {
    return false;
  }
}
