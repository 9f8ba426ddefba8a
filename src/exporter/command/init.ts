import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { kindNamed } from "../api/kinds.ts";
import type { ApplianceConfig, BasicAuthConfig } from "../config/config.ts";
import { KNOWN_CERTIFICATES } from "../config/http-client.ts";
import { replaceCertificates } from "../config/known-certificates.ts";
import { loadConfig } from "../config/load.ts";
import { readTextFile } from "../config/read-file.ts";
import { defaultPolling } from "../config/resolve.ts";
import { count, listedBriefly } from "../../support/text.ts";
import { confirmNew, showCertificates, type CertificateCheck } from "./certificates.ts";
import { check } from "./check.ts";
import { fail, isConfirmed, type ExitCode, type Io } from "./command.ts";
import { createFiles, describeWriteError, whyUnwritable, type NewFile } from "./files.ts";
import {
  firstConfigText,
  looksLikeAppliance,
  parseWanted,
  type ListedWebsite,
  type Wanted,
} from "./init-config.ts";
import {
  answersOf,
  credentialsOf,
  NOTHING,
  type Login,
  type InitFlags,
  type InitSession,
} from "./init-questions.ts";
import { pollAll } from "./poll-once.ts";
import { pollReport, type PolledAppliance } from "./poll-report.ts";
import { formatRows } from "./format.ts";

const CONFIG_FILE = "config.yaml";
/** A line of a configuration without appliances, such as that of the Debian package, that may be replaced. */
const REPLACEABLE = "# appliance-exporter init replaces this file.";
const MAX_LOGINS = 3;
/** Of so many websites, the names are found out for the comment in the configuration. */
const MAX_NAMED_WEBSITES = 5;

/**
 * Writes a first configuration: asks for what neither flags nor the environment have, shows the certificates of the appliances, and polls
 * them. Writes all files or none, and overwrites nothing. Then checks the configuration as `check --live` does, and returns its exit code.
 */
export async function init(flags: InitFlags, io: Io, args: readonly string[]): Promise<ExitCode> {
  const [first] = args;
  const hasFolder = first !== undefined && (!looksLikeAppliance(first) || (await exists(first)));
  if (hasFolder && args.length > 1 && !first.includes("/") && !(await exists(first)))
    return fail(
      io,
      `${first}: no such folder: write ./${first} for a new folder, or https://${first} for an appliance`,
      2,
    );
  const folder = hasFolder ? first : ".";
  const destination = await destinationIn(folder);
  if (!destination.ok) return fail(io, destination.message);
  if (io.canAsk) io.err(`New configuration: ${join(folder, CONFIG_FILE)}\n`);
  const session = { flags, io, folder, urls: hasFolder ? args.slice(1) : args };
  const plan = await Promise.race([planned(session), io.stopRequested]);
  if (plan === undefined) return fail(io, `\ninterrupted: ${NOTHING}`);
  if (typeof plan === "number") return plan;
  const { files, config } = plan;
  try {
    if (destination.isReplaced) await createFiles(folder, files, config);
    else await createFiles(folder, [...files, config]);
  } catch (error) {
    const path = error instanceof Error && "path" in error ? String(error.path) : folder;
    return fail(io, `${await describeWriteError(path, error)}: ${NOTHING}`);
  }
  io.out(`\n${await writtenFiles(folder, [...files, config])}\n`);
  const file = join(folder, CONFIG_FILE);
  const checked = check({ ...flags, "config.file": file, live: true }, io, [], async () => undefined);
  const exitCode = await Promise.race([checked, io.interrupted]);
  io.progress("");
  io.out(`\n${nextSteps(folder, exitCode === 0)}`);
  return exitCode;
}

type Destination =
  | { readonly ok: true; readonly isReplaced: boolean }
  | { readonly ok: false; readonly message: string };

/** Returns whether the files can be created in a folder, before anybody types anything. */
async function destinationIn(folder: string): Promise<Destination> {
  const message = await whyUnwritable(folder);
  if (message !== undefined) return { ok: false, message };
  const [config, certificates] = [join(folder, CONFIG_FILE), join(folder, KNOWN_CERTIFICATES)];
  const isReplaced = await isReplaceable(config);
  for (const path of isReplaced ? [certificates] : [config, certificates])
    if (await exists(path))
      return {
        ok: false,
        message: `${path} exists already, and init overwrites nothing: name another folder`,
      };
  return { ok: true, isReplaced };
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

interface Plan {
  readonly files: readonly NewFile[];
  readonly config: NewFile;
}

/** Returns the files to write, or the exit code if there are none. */
async function planned(session: InitSession): Promise<Plan | ExitCode> {
  const { io, folder, flags } = session;
  const answers = await answersOf(session);
  if (typeof answers === "number") return answers;
  const { wanted, cluster } = answers;
  const checks = await certificatesOf(wanted, session);
  if (typeof checks === "number") return checks;
  const reached = checks.flatMap(({ appliance, state, sha256 }) => {
    if (state === "failed") return [];
    return state === "new" ? withCertificate(appliance, sha256) : appliance;
  });
  const login = await logIn(reached, answers, session);
  if (typeof login === "number") return login;
  const { username, password, polled } = login;
  const passwordFile = join("secrets", /^\w[\w.-]*$/.test(username) ? username : "password");
  if (await exists(join(folder, passwordFile)))
    return fail(io, `${join(folder, passwordFile)} exists already: ${NOTHING}; move it away first`);
  const appliances = checks.map(({ appliance: { name, baseUrl } }) => ({ name, baseUrl }));
  const fresh = checks.filter(({ state }) => state === "new");
  const known = new Map(fresh.map(({ appliance, sha256 }) => [appliance.name, sha256]));
  const found = { cluster, appliances, username, passwordFile, websites: websitesIn(polled) };
  const text = firstConfigText({ kind: flags.kind, ...found });
  return {
    files: [
      { name: passwordFile, text: `${password.reveal()}\n`, isSecret: true },
      ...(known.size === 0 ? [] : [{ name: KNOWN_CERTIFICATES, text: replaceCertificates("", known) }]),
    ],
    config: { name: CONFIG_FILE, text },
  };
}

/** Shows the certificates and asks about them, and for other URLs of appliances that do not answer. */
async function certificatesOf(
  wanted: readonly Wanted[],
  session: InitSession,
): Promise<readonly CertificateCheck[] | ExitCode> {
  const { io, flags, folder } = session;
  const path = join(folder, KNOWN_CERTIFICATES);
  const isAlone = wanted.length === 1;
  const applianceOf = ({ name, baseUrl }: Pick<Wanted, "name" | "baseUrl">): ApplianceConfig => ({
    name,
    cluster: isAlone ? name : "",
    isAlone,
    enabled: true,
    kind: flags.kind,
    baseUrl,
    labels: {},
    websites: [],
    discovery:
      kindNamed(flags.kind).operations.website_list === undefined
        ? undefined
        : { exclude: [], limit: MAX_NAMED_WEBSITES },
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
      const taken = checks
        .filter((each) => each.appliance !== appliance)
        .map((each) => (others.get(each.appliance.name) ?? each.appliance).baseUrl);
      const baseUrl = await otherUrlOf(name, taken, session);
      if (typeof baseUrl === "number") return baseUrl;
      if (baseUrl !== "") others.set(name, applianceOf({ name, baseUrl }));
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

/** Asks until the URL is valid and that of no other appliance; an empty one keeps what there is. */
async function otherUrlOf(
  name: string,
  taken: readonly string[],
  { io, flags: { kind } }: InitSession,
): Promise<string | ExitCode> {
  for (;;) {
    const answer = await io.ask(`Another URL of ${name}, or Enter to keep it although it does not answer: `);
    if (answer === undefined) return fail(io, `${name} does not answer as it should: ${NOTHING}`);
    const text = answer.trim();
    if (text === "") return "";
    const parsed = parseWanted(text, kind);
    if (!parsed.ok) io.err(`${parsed.message}\n`);
    else if (taken.includes(parsed.wanted.baseUrl)) io.err(`${parsed.wanted.baseUrl} is there twice\n`);
    else return parsed.wanted.baseUrl;
  }
}

function withCertificate(appliance: ApplianceConfig, sha256: string): ApplianceConfig {
  const { http } = appliance;
  return { ...appliance, http: { ...http, tls: { ...http.tls, certificateSha256: [sha256] } } };
}

interface LoggedIn extends Login {
  readonly polled: readonly PolledAppliance[];
}

/**
 * Polls the appliances with the user and the password that are given. The first one alone decides whether they are right, so that a mistake
 * counts once, and the user may correct it.
 */
async function logIn(
  appliances: readonly ApplianceConfig[],
  given: Login,
  session: InitSession,
): Promise<LoggedIn | ExitCode> {
  const { io } = session;
  if (appliances.length === 0) return fail(io, `no appliance answers: ${NOTHING}`);
  for (let attempt = 1; ; attempt += 1) {
    const credentials = attempt === 1 ? given : await credentialsOf(session, true);
    if (typeof credentials === "number") return credentials;
    const { username, password } = credentials;
    const basicAuth: BasicAuthConfig = { username, password: { kind: "inline", secret: password } };
    const poll = (some: readonly ApplianceConfig[]) =>
      pollAll(
        some.map((each) => ({ ...each, http: { ...each.http, basicAuth } })),
        io,
        { kinds: ["vrrp", "website_list", "website_details"] },
      );
    const tried: PolledAppliance[] = [];
    let reason: string | undefined = "";
    // One by one, until one accepts or refuses them: a failure of another kind says nothing about the password.
    for (const each of appliances) {
      if (reason === undefined || reason === "auth") break;
      const one = await poll([each]);
      tried.push(...one);
      reason = reasonOf(one[0]?.results[0]);
    }
    const isRefused = reason === "auth";
    const polled = isRefused ? tried : [...tried, ...(await poll(appliances.slice(tried.length)))];
    const failed = polled.filter(({ results }) => reasonOf(results[0]) !== undefined);
    if (failed.length === 0) return { username, password, polled };
    io.err(`\n${pollReport(failed, io.hasColor, true)}`);
    const question = isRefused ? "Try another user or password?" : "Write the configuration nevertheless?";
    const isLast = isRefused && attempt >= MAX_LOGINS;
    if (isLast || !(await isConfirmed(io, question))) {
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

/** Returns the websites that the first appliance with a list has; `undefined` if none has one. */
function websitesIn(polled: readonly PolledAppliance[]): readonly ListedWebsite[] | undefined {
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
      const isRoots = uid === 0 && group === "";
      const what = isSecret
        ? `the password, for uid ${uid}${group} only${isRoots ? "; a service of another user cannot read it" : ""}`
        : name === KNOWN_CERTIFICATES
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
  // A service or a container has it there.
  const start = resolve(folder).startsWith("/etc/")
    ? "  appliance-exporter status   # within 30 seconds, if the service runs; otherwise start it, or the container\n"
    : `  appliance-exporter run${flag}\n`;
  return `Next:\n${correct}${start}`;
}
