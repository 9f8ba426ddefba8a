import type { ConfigError } from "../../config/config.ts";
import { Secret } from "../../support/secret.ts";
import { errorAt, type YamlFile } from "../../config/yaml/file.ts";
import { valueAt } from "../../config/yaml/validate.ts";

const KEY = "basic_auth_users";
const BCRYPT = /^\$2[abxy]?\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;
const USER_NAME = /^[\w.@-]{1,64}$/;

/** Versions that Go, and with it Prometheus's exporters, takes for what they are called since. */
const OLD_VERSION = /^\$2x?\$/;

/** Of the 22nd character of the salt, two bits count; Go passes over the rest, and a comparison of texts would not. */
const SALT_END = /^(.{28})(.)/;
const ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** bcrypt hashes by user name, or where one is not a hash; errors show nothing of it. */
export interface Users {
  readonly users: ReadonlyMap<string, Secret>;
  readonly errors: readonly ConfigError[];
}

export function readUsers(file: YamlFile): Users {
  const block = valueAt(file.data, [KEY]);
  const users = new Map<string, Secret>();
  const errors: ConfigError[] = [];
  // Anything but a map is told of by the schema.
  const entries = typeof block === "object" && block !== null && !Array.isArray(block) ? block : {};
  for (const [name, given] of Object.entries<unknown>({ ...entries })) {
    // A block of YAML ends in a line break.
    const hash = typeof given === "string" ? given.trimEnd() : given;
    if (typeof hash === "string" && BCRYPT.test(hash)) users.set(name, new Secret(canonical(hash)));
    else errors.push(notAHash(file, name, hash));
  }
  return { users, errors };
}

/** The same hash as our check writes it. */
function canonical(hash: string): string {
  return hash
    .replace(OLD_VERSION, "$2b$")
    .replace(SALT_END, (_, before: string, last: string) => `${before}${withoutSpareBits(last)}`);
}

function withoutSpareBits(character: string): string {
  return ALPHABET.charAt(ALPHABET.indexOf(character) & 0b11_0000);
}

function notAHash(file: YamlFile, name: string, hash: unknown): ConfigError {
  const message = "expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$";
  const error = errorAt(file, [KEY, name], message);
  // Without a blank after the colon, the hash is part of the key.
  const isName = USER_NAME.test(name) && typeof hash === "string";
  return isName ? error : { ...error, path: KEY };
}
