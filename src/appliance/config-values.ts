import { isIP } from "node:net";

import { z } from "zod";

import { parseDuration } from "../config/schema/duration.ts";
import { expected } from "../config/yaml/wording.ts";
import { isHostName, MAX_PORT, parseListenAddress } from "../web/listen.ts";

const MAX_TIMEOUT_MS = 3_600_000;

/** A value that `parse` gives a form, or an error that shows it and says what was expected. */
function parsed<T>(what: string, parse: (input: unknown) => T | undefined) {
  return z.unknown().transform((input, context): T => {
    const value = parse(input);
    if (value !== undefined) return value;
    context.issues.push({ code: "custom", input, message: expected(what)({ input }) });
    return z.NEVER;
  });
}

function matching(what: string, test: (text: string) => boolean) {
  return parsed(what, (input) => (typeof input === "string" && test(input) ? input : undefined));
}

/** An integer within bounds, written as a number or as a text. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER) {
  const upTo = max === Number.MAX_SAFE_INTEGER ? "upwards" : `to ${max}`;
  return parsed(`a whole number from ${min} ${upTo}`, (input) => {
    const number = toInteger(input);
    return number !== undefined && number >= min && number <= max ? number : undefined;
  });
}

function toInteger(input: unknown): number | undefined {
  const number = typeof input === "string" && /^\d+$/.test(input) ? Number(input) : input;
  return Number.isSafeInteger(number) ? Number(number) : undefined;
}

export const port = integer(1, MAX_PORT);

/** `127.0.0.1:4849`, `[::1]:4849`, `localhost:4849`, `:4849`; port 0 is any free one. */
export const listenAddress = parsed("an address like 127.0.0.1:4849", (input) =>
  typeof input === "string" ? parseListenAddress(input) : undefined,
);

export const ipAddress = matching("an IP address", (text) => isIP(text) !== 0);

export const netmask = matching("a netmask like 255.255.255.0", (text) => isIP(text) !== 0);

/** A host name or an IP address, IPv6 without brackets. */
export const host = matching("a host name or an IP address", (text) => isIP(text) !== 0 || isHostName(text));

/** What may stand in a request line, from the first slash on. */
export const urlPath = matching("a path that starts with / and holds no blanks", (text) =>
  /^\/[!-~]*$/.test(text),
);

export const text = matching("a text that is not empty", (value) => value !== "");

/** A name without a colon, which parts it from the password in Basic credentials. Not shown: one may hold both. */
export const username = z.string().regex(/^[^:]+$/, { error: "expected a name without a colon" });

/** In milliseconds. */
export const timeout = parsed("a duration like 10s, at most 1h", (input) => {
  const ms = typeof input === "string" ? parseDuration(input) : undefined;
  return ms !== undefined && ms > 0 && ms <= MAX_TIMEOUT_MS ? ms : undefined;
});
