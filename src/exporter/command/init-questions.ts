import { basename, dirname, resolve } from "node:path";
import type { KindName } from "../api/kinds.ts";
import { passwordIn, readPasswordFile, unfit, type TextResult } from "../config/read-file.ts";
import { applianceNameSchema, usernameSchema } from "../config/schema.ts";
import { Secret } from "../../support/secret.ts";
import { listed, printable } from "../../support/text.ts";
import { fail, type ExitCode, type Flags, type Io } from "./command.ts";
import { clusterNameOf, parseWanted, withDistinctNames, type Wanted } from "./init-config.ts";

export interface InitFlags extends Flags {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly cluster?: string;
  readonly kind: KindName;
}

export interface InitSession {
  readonly flags: InitFlags;
  readonly io: Io;
  /** The folder of the configuration. */
  readonly folder: string;
  /** The appliances that arguments name. */
  readonly urls: readonly string[];
}

export interface Login {
  readonly username: string;
  readonly password: Secret;
}

/** What the user wants to poll, and how. */
interface InitAnswers extends Login {
  readonly wanted: readonly Wanted[];
  readonly cluster: string;
}

const USERNAME = "APPLIANCE_USERNAME";
const PASSWORD = "APPLIANCE_PASSWORD";
const MAX_ATTEMPTS = 3;
export const NOTHING = "nothing is written";
const EXAMPLE =
  "appliance-exporter init . https://192.0.2.11:4849 https://192.0.2.12:4849 --username=monitor --password-file=-";

/**
 * Returns what arguments, flags and the environment say, and asks for what they lack. After an error, which it prints, it returns the exit
 * code. If nobody can be asked, the error names all that is missing.
 */
export async function answersOf(session: InitSession): Promise<InitAnswers | ExitCode> {
  const { flags, io, urls } = session;
  if (!io.canAsk) {
    const lacking = [
      ...(urls.length === 0 ? ["the URLs of appliances"] : []),
      ...(usernameOf(session) === undefined ? [`--username=NAME (or ${USERNAME} in the environment)`] : []),
      ...(hasPassword(session)
        ? []
        : [`--password-file=FILE (- for standard input; or ${PASSWORD} in the environment)`]),
    ];
    if (lacking.length > 0) return fail(io, `error: expected ${listed(lacking)}, such as\n  ${EXAMPLE}`, 2);
  }
  const wanted = await wantedAppliances(session);
  if (typeof wanted === "number") return wanted;
  const guess = clusterNameOf(wanted);
  const isAsked = flags.cluster === undefined && wanted.length > 1;
  const cluster = flags.cluster ?? (isAsked ? await io.ask(`Name of the cluster [${guess}]: `) : undefined);
  const name = applianceNameSchema.safeParse(cluster?.trim() || guess);
  if (!name.success) return fail(io, `cluster: ${name.error.issues[0]?.message}: ${NOTHING}`);
  const credentials = await credentialsOf(session);
  if (typeof credentials === "number") return credentials;
  return { wanted, cluster: name.data, ...credentials };
}

async function wantedAppliances({
  flags: { kind },
  io,
  urls,
}: InitSession): Promise<readonly Wanted[] | ExitCode> {
  let given = urls;
  for (;;) {
    if (given.length === 0) {
      io.err("The appliances that back each other up, with spaces between, such as 192.0.2.11 192.0.2.12,\n");
      io.err("or waf-1=https://waf-1.example:4849 with a name and a port.\n");
      const answer = (await io.ask("Appliances: ")) ?? "";
      given = answer.split(/[\s,]+/).filter((each) => each !== "");
      if (given.length === 0) return fail(io, `no appliance: ${NOTHING}`);
    }
    const parsed = given.map((text) => ({ text, result: parseWanted(text, kind) }));
    const wrong = parsed.flatMap(({ text, result }) =>
      result.ok ? [] : `${printable(withoutCredentials(text))}: ${result.message}\n`,
    );
    const wanted = parsed.flatMap(({ result }) => (result.ok ? result.wanted : []));
    const twice = wanted.find(({ baseUrl }, at) =>
      wanted.some((other, before) => before < at && other.baseUrl === baseUrl),
    );
    const all = twice === undefined ? wrong : [...wrong, `${twice.baseUrl} is there twice\n`];
    if (all.length === 0) return withDistinctNames(await named(wanted, kind, io));
    io.err(all.join(""));
    if (urls.length > 0) return 2;
    given = [];
  }
}

/** Whatever is before the last `@` may be part of a password, which may contain slashes and `=`. */
function withoutCredentials(text: string): string {
  return text.replace(/^((?:[^=/:]+=)?(?:[a-z]+:\/\/)?).*@/is, "$1...@");
}

/** Asks for names of appliances that have only an address. */
async function named(wanted: readonly Wanted[], kind: KindName, io: Io): Promise<readonly Wanted[]> {
  const result: Wanted[] = [];
  for (const each of withDistinctNames(wanted)) {
    const answer = each.isUnnamed ? await io.ask(`Name of the appliance ${each.name} [${each.name}]: `) : "";
    const name = answer?.trim() ?? "";
    const parsed = name === "" ? undefined : parseWanted(`${name}=${each.baseUrl}`, kind);
    if (parsed?.ok === false) io.err(`${parsed.message}; it stays ${each.name}\n`);
    result.push(parsed?.ok === true ? parsed.wanted : each);
  }
  return result;
}

function usernameOf({ flags, io }: InitSession): string | undefined {
  return flags.username ?? io.environment(USERNAME);
}

function hasPassword({ flags, io }: InitSession): boolean {
  // At a terminal, standard input is the terminal, which would show what is typed.
  const isAsked = flags.passwordFile === "-" && io.canAsk;
  return !isAsked && (flags.passwordFile !== undefined || io.environment(PASSWORD) !== undefined);
}

/** Returns the credentials; asks for what flags and the environment lack, and for all of it if what they have is wrong. */
export async function credentialsOf(session: InitSession, areWrong = false): Promise<Login | ExitCode> {
  const { io } = session;
  const known = areWrong ? undefined : usernameOf(session);
  const user =
    known === undefined
      ? await validAnswer(async () => usernameIn((await io.ask("User for the management API: ")) ?? ""), io)
      : usernameIn(known);
  if (!user.ok) return fail(io, `user: ${user.message}: ${NOTHING}`);
  const username = user.text;
  const isGiven = !areWrong && hasPassword(session);
  const question = `Password of ${username} (not shown): `;
  const read = isGiven
    ? await givenPassword(session)
    : await validAnswer(async () => passwordIn((await io.askSecret(question)) ?? ""), io);
  if (!read.ok) return fail(io, `password: ${read.message}: ${NOTHING}`);
  return { username, password: new Secret(read.text) };
}

/** Asks again after an answer that cannot be right, but not for ever: when its input has ended, a terminal answers with empty lines. */
async function validAnswer(ask: () => Promise<TextResult>, io: Io): Promise<TextResult> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await ask();
    if (result.ok || attempt === MAX_ATTEMPTS) return result;
    io.err(`${result.message}\n`);
  }
}

function usernameIn(text: string): TextResult {
  const username = text.trim();
  const valid = usernameSchema.safeParse(username);
  return valid.success
    ? { ok: true, text: username }
    : unfit(valid.error.issues[0]?.message ?? "it is not valid");
}

async function givenPassword({ flags: { passwordFile }, io }: InitSession) {
  if (passwordFile === "-") return passwordIn(await io.readInput());
  if (passwordFile !== undefined) {
    const read = await readPasswordFile(passwordFile);
    return read.ok
      ? read
      : {
          ...read,
          message: `${read.message}: ${basename(passwordFile)} in ${dirname(resolve(passwordFile))}`,
        };
  }
  return passwordIn(io.environment(PASSWORD) ?? "");
}
