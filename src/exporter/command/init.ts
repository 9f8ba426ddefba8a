import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ApplianceConfig, BasicAuthConfig } from "../config/config.ts";
import { replaceCertificates } from "../config/known-certificates.ts";
import { loadConfig } from "../config/load.ts";
import { passwordIn, readPasswordFile, readTextFile } from "../config/read-file.ts";
import { defaultPolling } from "../config/resolve.ts";
import { usernameSchema } from "../config/schema.ts";
import { Secret } from "../../support/secret.ts";
import { count, listedBriefly, printable } from "../../support/text.ts";
import { confirmNew, showCertificates, type CertificateCheck } from "./certificates.ts";
import { check } from "./check.ts";
import { fail, isConfirmed, type ExitCode, type Flags, type Io } from "./command.ts";
import { createFiles, describeWriteError, whyUnwritable, type NewFile } from "./files.ts";
import {
  clusterNameOf,
  firstConfigText,
  looksLikeUrl,
  parseWanted,
  withDistinctNames,
  type FoundWebsite,
  type Wanted,
} from "./init-config.ts";
import { pollAll } from "./poll-once.ts";
import { pollReport, type PolledAppliance } from "./poll-report.ts";
import { formatRows } from "./format.ts";

export interface InitFlags extends Flags {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly cluster?: string;
}

const CONFIG_FILE = "config.yaml";
const CERTIFICATES_FILE = "known_certificates";
const USERNAME = "APPLIANCE_USERNAME";
const PASSWORD = "APPLIANCE_PASSWORD";
/** A line of a configuration without appliances, such as that of the Debian package, that may be replaced. */
const REPLACEABLE = "# appliance-exporter init replaces this file.";
const MAX_LOGINS = 3;
/** Of so many websites, the names are found out for the comment in the configuration. */
const MAX_NAMED_WEBSITES = 5;
const NOTHING = "nothing is written";

/**
 * Writes a first configuration: asks for what neither flags nor the environment have, shows the certificates of the appliances, and polls
 * them. Writes all files or none, and overwrites nothing. Then checks the configuration as `check --live` does, and returns its exit code.
 */
export async function init(flags: InitFlags, io: Io, args: readonly string[]): Promise<ExitCode> {
  const [first] = args;
  const hasFolder = first !== undefined && !looksLikeUrl(first);
  const folder = hasFolder ? first : ".";
  const target = await targetIn(folder);
  if (!target.ok) return fail(io, target.message);
  const session = { flags, io, folder, urls: hasFolder ? args.slice(1) : args };
  const plan = await Promise.race([planned(session), io.stopRequested]);
  if (plan === undefined) return fail(io, `\ninterrupted: ${NOTHING}`);
  if (typeof plan === "number") return plan;
  const { files, config } = plan;
  try {
    if (target.isReplaced) await createFiles(folder, files, config);
    else await createFiles(folder, [...files, config]);
  } catch (error) {
    const path = error instanceof Error && "path" in error ? String(error.path) : folder;
    return fail(io, `${await describeWriteError(path, error)}: ${NOTHING}`);
  }
  io.out(`\n${await writtenFiles(folder, [...files, config])}\n`);
  const file = join(folder, CONFIG_FILE);
  const exitCode = await check({ ...flags, "config.file": file, live: true }, io, [], async () => []);
  io.out(`\n${nextSteps(folder, exitCode === 0)}`);
  return exitCode;
}

type Target =
  | { readonly ok: true; readonly isReplaced: boolean }
  | { readonly ok: false; readonly message: string };

/** Whether the files can be created in a folder, before anybody types anything. */
async function targetIn(folder: string): Promise<Target> {
  const file = join(folder, CONFIG_FILE);
  const isThere = await exists(file);
  const isReplaced = isThere && (await isReplaceable(file));
  const obstacle = isThere && !isReplaced ? file : join(folder, CERTIFICATES_FILE);
  if ((isThere && !isReplaced) || (await exists(obstacle)))
    return {
      ok: false,
      message: `${obstacle} exists already, and init overwrites nothing: name another folder`,
    };
  const message = await whyUnwritable(folder);
  return message === undefined ? { ok: true, isReplaced } : { ok: false, message };
}

async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined;
}

/** Whether a configuration says that it may be replaced, and has no appliances. */
async function isReplaceable(file: string): Promise<boolean> {
  const read = await readTextFile(file);
  if (!read.ok || !read.text.split("\n").includes(REPLACEABLE)) return false;
  const loaded = await loadConfig(file);
  return loaded.ok && loaded.config.appliances.length === 0;
}

interface Session {
  readonly flags: InitFlags;
  readonly io: Io;
  readonly folder: string;
  readonly urls: readonly string[];
}

interface Plan {
  readonly files: readonly NewFile[];
  readonly config: NewFile;
}

/** Returns the files to write, or the exit code if there are none. */
async function planned(session: Session): Promise<Plan | ExitCode> {
  const { io, flags } = session;
  io.err(`This writes ${join(session.folder, CONFIG_FILE)} and the files that it needs.\n`);
  const wanted = await wantedAppliances(session);
  if (typeof wanted === "number") return wanted;
  const guess = clusterNameOf(wanted);
  const isAlone = wanted.length === 1;
  const asked = flags.cluster ?? (isAlone ? "" : await io.ask(`Name of the cluster [${guess}]: `));
  const cluster = asked?.trim() || guess;
  const checks = await certificatesOf(wanted, session);
  if (typeof checks === "number") return checks;
  const reached = checks.flatMap(({ appliance, state, sha256 }) => {
    if (state === "failed") return [];
    return state === "new" ? withCertificate(appliance, sha256) : appliance;
  });
  const login = await logIn(reached, session);
  if (typeof login === "number") return login;
  const { username, password, polled } = login;
  const passwordFile = join("secrets", /^\w[\w.-]*$/.test(username) ? username : "password");
  if (await exists(join(session.folder, passwordFile)))
    return fail(io, `${join(session.folder, passwordFile)} exists already: ${NOTHING}; move it away first`);
  const appliances = checks.map(({ appliance: { name, baseUrl } }) => ({ name, baseUrl }));
  const fresh = checks.filter(({ state }) => state === "new");
  const known = new Map(fresh.map(({ appliance, sha256 }) => [appliance.name, sha256]));
  const text = firstConfigText({ cluster, appliances, username, passwordFile, websites: websitesIn(polled) });
  return {
    files: [
      { name: passwordFile, text: `${password.reveal()}\n`, isSecret: true },
      ...(known.size === 0 ? [] : [{ name: CERTIFICATES_FILE, text: replaceCertificates("", known) }]),
    ],
    config: { name: CONFIG_FILE, text },
  };
}

/** Returns the appliances that arguments name, or the user. */
async function wantedAppliances({ io, urls }: Session): Promise<readonly Wanted[] | ExitCode> {
  let given = urls;
  for (;;) {
    if (given.length === 0) {
      const answer = await io.ask(
        "Appliances that back each other up, such as 192.0.2.11 192.0.2.12, or waf-1=https://waf-1.example:4849: ",
      );
      if (answer === undefined)
        return fail(
          io,
          "error: expected the URLs of the appliances: appliance-exporter init . https://192.0.2.11:4849 https://192.0.2.12:4849",
          2,
        );
      given = answer.split(/[\s,]+/).filter((each) => each !== "");
      if (given.length === 0) return fail(io, `no appliance: ${NOTHING}`);
    }
    const parsed = given.map((text) => ({ text, result: parseWanted(text) }));
    const wrong = parsed.flatMap(({ text, result }) =>
      result.ok ? [] : `${printable(withoutCredentials(text))}: ${result.message}\n`,
    );
    const wanted = parsed.flatMap(({ result }) => (result.ok ? result.wanted : []));
    const [twice] = wanted.filter((each, at) =>
      wanted.some((other, before) => before < at && other.baseUrl === each.baseUrl),
    );
    const all = twice === undefined ? wrong : [...wrong, `${twice.baseUrl}: it is there twice\n`];
    if (all.length === 0) return withDistinctNames(await named(wanted, io));
    io.err(all.join(""));
    if (urls.length > 0) return 2;
    given = [];
  }
}

function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/]*@/, "//...@");
}

/** Asks for names of appliances that have only an address. */
async function named(wanted: readonly Wanted[], io: Io): Promise<readonly Wanted[]> {
  const distinct = withDistinctNames(wanted);
  const result: Wanted[] = [];
  for (const each of distinct) {
    const answer = each.isUnnamed ? await io.ask(`Name of the appliance ${each.name} [${each.name}]: `) : "";
    const name = answer?.trim() ?? "";
    const parsed = name === "" ? undefined : parseWanted(`${name}=${each.baseUrl}`);
    if (parsed?.ok === false) io.err(`${parsed.message}; it stays ${each.name}\n`);
    result.push(parsed?.ok === true ? parsed.wanted : each);
  }
  return result;
}

/** Shows the certificates and asks about them, and for other URLs of appliances that do not answer. */
async function certificatesOf(
  wanted: readonly Wanted[],
  session: Session,
): Promise<readonly CertificateCheck[] | ExitCode> {
  const { io, flags, folder } = session;
  const path = join(folder, CERTIFICATES_FILE);
  const isAlone = wanted.length === 1;
  const applianceOf = ({ name, baseUrl }: Pick<Wanted, "name" | "baseUrl">): ApplianceConfig => ({
    name,
    cluster: isAlone ? name : "",
    isAlone,
    enabled: true,
    baseUrl,
    labels: {},
    websites: [],
    discovery: { exclude: [], limit: MAX_NAMED_WEBSITES },
    polling: defaultPolling(),
    http: {
      tls: {
        insecureSkipVerify: false,
        certificateSha256: [],
        knownCertificates: { path, appliance: name, isOptional: true },
      },
    },
  });
  let checks = await showCertificates(wanted.map(applianceOf), io);
  for (;;) {
    const others = new Map<string, ApplianceConfig>();
    for (const { appliance, state } of checks) {
      if (state !== "failed") continue;
      const { name } = appliance;
      const url = await io.ask(`Another URL of ${name}, or Enter to keep it although it does not answer: `);
      if (url === undefined) return fail(io, `${name} does not answer as it should: ${NOTHING}`);
      if (url.trim() === "") continue;
      const parsed = parseWanted(url.trim());
      if (parsed.ok) others.set(name, applianceOf({ name, baseUrl: parsed.wanted.baseUrl }));
      else io.err(`${parsed.message}\n`);
    }
    if (others.size === 0) break;
    const again = await showCertificates([...others.values()], io);
    const byName = new Map(again.map((each) => [each.appliance.name, each]));
    checks = checks.map((each) => byName.get(each.appliance.name) ?? each);
  }
  if (checks.every(({ state }) => state === "failed")) return fail(io, `no appliance answers: ${NOTHING}`);
  const confirmed = await confirmNew(checks, flags, io);
  if (checks.some((each) => each.state === "new" && !confirmed.includes(each)))
    return fail(io, `${NOTHING}; --yes trusts new certificates without a question`);
  return checks;
}

function withCertificate(appliance: ApplianceConfig, sha256: string): ApplianceConfig {
  const { http } = appliance;
  return { ...appliance, http: { ...http, tls: { ...http.tls, certificateSha256: [sha256] } } };
}

interface Login {
  readonly username: string;
  readonly password: Secret;
  readonly polled: readonly PolledAppliance[];
}

/**
 * Polls the appliances with the user and the password that are given. The first one alone decides whether they are right, so that a mistake
 * counts once, and the user may correct it.
 */
async function logIn(
  [first, ...others]: readonly ApplianceConfig[],
  session: Session,
): Promise<Login | ExitCode> {
  const { io } = session;
  if (first === undefined) return fail(io, `no appliance answers: ${NOTHING}`);
  for (let attempt = 1; ; attempt += 1) {
    const credentials = await credentialsFor(session, attempt > 1);
    if (typeof credentials === "number") return credentials;
    const { username, password } = credentials;
    const basicAuth: BasicAuthConfig = { username, password: { kind: "inline", secret: password } };
    const poll = (some: readonly ApplianceConfig[]) =>
      pollAll(
        some.map((each) => ({ ...each, http: { ...each.http, basicAuth } })),
        io,
        { kinds: ["vrrp", "website_list", "website_details"] },
      );
    const one = await poll([first]);
    const isRefused = one.some(({ results }) => reasonOf(results[0]) === "auth");
    const polled = isRefused ? one : [...one, ...(await poll(others))];
    const failed = polled.filter(({ results }) => reasonOf(results[0]) !== undefined);
    if (failed.length === 0) return { username, password, polled };
    io.err(`\n${pollReport(failed, io.hasColor, true)}`);
    const question = isRefused ? "Try another user or password?" : "Write the configuration nevertheless?";
    if (attempt >= MAX_LOGINS || !(await isConfirmed(io, question))) {
      const names = listedBriefly(failed.map(({ appliance: { name } }) => name));
      return fail(io, `${names} could not be polled: ${NOTHING}`);
    }
    if (!isRefused) return { username, password, polled };
  }
}

function reasonOf(result: PolledAppliance["results"][number] | undefined): string | undefined {
  const outcome = result?.observation.outcome;
  return outcome?.ok === false ? outcome.failure.reason : undefined;
}

/** Returns the user and the password of flags and the environment, or of the user: always of the user if they were wrong. */
async function credentialsFor({ flags, io }: Session, isAgain: boolean) {
  const given = isAgain ? undefined : (flags.username ?? io.environment(USERNAME));
  const username = (given ?? (await io.ask("User for the management API: ")))?.trim();
  if (username === undefined)
    return fail(io, `error: expected --username, or ${USERNAME} in the environment`, 2);
  const valid = usernameSchema.safeParse(username);
  if (!valid.success) return fail(io, `user: ${valid.error.issues[0]?.message}: ${NOTHING}`);
  const read = isAgain ? undefined : await givenPassword(flags, io);
  const asked = read ?? (await askedPassword(username, io));
  if (asked === undefined)
    return fail(
      io,
      `error: expected --password-file=FILE, a password on standard input with --password-file=-, or ${PASSWORD} in the environment`,
      2,
    );
  if (!asked.ok) return fail(io, `password: ${asked.message}: ${NOTHING}`);
  return { username, password: new Secret(asked.text) };
}

async function givenPassword({ passwordFile }: InitFlags, io: Io) {
  if (passwordFile === "-") return passwordIn(await io.readInput());
  if (passwordFile !== undefined) return readPasswordFile(passwordFile);
  const text = io.environment(PASSWORD);
  return text === undefined ? undefined : passwordIn(text);
}

async function askedPassword(username: string, io: Io) {
  const text = await io.askSecret(`Password of ${username}, which is not shown: `);
  return text === undefined ? undefined : passwordIn(text);
}

/** Returns the websites that the first appliance with a list has; `undefined` if none has one. */
function websitesIn(polled: readonly PolledAppliance[]): readonly FoundWebsite[] | undefined {
  const found = polled.flatMap(({ results }) => {
    const names = new Map<number, string>();
    let ids: readonly number[] | undefined;
    for (const { observation } of results) {
      if (observation.kind === "website_list" && observation.outcome.ok)
        ({ ids } = observation.outcome.value);
      if (observation.kind === "website_details" && observation.outcome.ok)
        names.set(observation.websiteId, observation.outcome.value.name);
    }
    return ids === undefined ? [] : [ids.map((id) => ({ id, name: names.get(id) ?? "" }))];
  });
  return found.find((websites) => websites.length > 0) ?? found[0];
}

async function writtenFiles(folder: string, files: readonly NewFile[]): Promise<string> {
  const rows = await Promise.all(
    files.map(async ({ name, text, isSecret = false }) => {
      const { uid, gid, mode } = await stat(join(folder, name));
      const group = (mode & 0o040) === 0 ? "" : ` and group ${gid}`;
      const lines = text.split("\n").length - 1;
      const what = isSecret
        ? `the password, for uid ${uid}${group} only`
        : name === CERTIFICATES_FILE
          ? count(lines, "certificate")
          : "the configuration";
      return ["", join(folder, name), what];
    }),
  );
  return `Written:\n${formatRows(rows)}`;
}

function nextSteps(folder: string, isWell: boolean): string {
  const flag = folder === "." ? "" : ` --config.file=${join(folder, CONFIG_FILE)}`;
  const correct = isWell
    ? ""
    : `  appliance-exporter check --live${flag}   # when what fails above is corrected; the files stay\n`;
  const start = folder.startsWith("/etc/")
    ? "  appliance-exporter status   # of a service or container that runs with it, within 30 seconds\n"
    : `  appliance-exporter run${flag}\n`;
  return `Next:\n${correct}${start}`;
}
