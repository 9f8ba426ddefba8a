import { OPERATIONS } from "../api/operations.ts";
import { isPinned } from "../client/certificate.ts";
import { createClients } from "../client/clients.ts";
import { NO_TLS } from "../client/errors.ts";
import type { Failure } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { listFew } from "../config/shared-addresses.ts";
import type { Observation } from "../polling/observation.ts";
import { groupBy } from "../support/group-by.ts";
import type { Io } from "./io.ts";
import { untestedProtocols } from "./report.ts";

/** What the user can do about the results of an appliance: sentences, without duplicates. */
export async function adviceOn(
  observations: readonly Observation[],
  appliance: ApplianceConfig,
  io: Io,
): Promise<readonly string[]> {
  const advice = await Promise.all(observations.map((each) => adviceOnResult(each, appliance, io)));
  return [...new Set(advice.filter((each) => each !== undefined))];
}

interface Advised {
  readonly appliance: ApplianceConfig;
  readonly advice: readonly string[];
}

/** Each piece of advice once, with the appliances that it concerns; empty without advice. */
export function adviceText(advised: readonly Advised[]): string {
  const all = advised.flatMap(({ appliance, advice }) =>
    advice.map((each) => ({ name: appliance.name, each })),
  );
  const lines = Array.from(
    groupBy(all, ({ each }) => each),
    ([each, concerned]) => `${listFew(concerned.map(({ name }) => name))}: ${each}\n`,
  );
  return lines.length === 0 ? "" : `\nWhat to do:\n${lines.join("")}`;
}

async function adviceOnResult(
  observation: Observation,
  appliance: ApplianceConfig,
  io: Io,
): Promise<string | undefined> {
  const { outcome } = observation;
  if (outcome.ok) return protocolAdvice(observation, appliance);
  const { reason, status, message } = outcome.failure;
  if (reason === "auth") return authAdvice(outcome.failure, appliance);
  if (reason === "unsupported") return undefined;
  if (status === 404) return notFoundAdvice(observation, appliance);
  if (reason === "tls" && message.includes(NO_TLS)) return noTlsAdvice(appliance, io);
  if (reason === "tls" && observation.certificate !== undefined) return trustAdvice(appliance);
  const isMaybeTls = reason === "protocol" && appliance.baseUrl.startsWith("http:");
  return isMaybeTls ? "If the port speaks TLS, write https:// in base_url." : undefined;
}

function protocolAdvice(observation: Observation, appliance: ApplianceConfig): string | undefined {
  if (observation.kind !== "website_test" || untestedProtocols(observation, appliance).length === 0)
    return undefined;
  const tested = observation.outcome.ok
    ? observation.outcome.value.blocks.map(({ protocol }) => protocol)
    : [];
  return `The appliance tests website ${observation.websiteId} over ${tested.join(" and ")} only: correct its protocol.`;
}

function authAdvice({ status }: Failure, { http: { basicAuth } }: ApplianceConfig): string {
  if (basicAuth === undefined) return "The appliance demands credentials: set http_client.basic_auth.";
  const { username, password } = basicAuth;
  const user = `user ${JSON.stringify(username)}`;
  if (status === 403) return `The appliance does not permit this: check the permissions of ${user} on it.`;
  const where = password.kind === "file" ? ` in ${JSON.stringify(password.path)}` : "";
  return `The appliance refuses the credentials: check ${user} and the password${where}.`;
}

function notFoundAdvice(observation: Observation, { baseUrl }: ApplianceConfig): string {
  if ("websiteId" in observation) {
    return `The appliance has no website ${observation.websiteId}: check the id.`;
  }
  const { pathname } = new URL(baseUrl);
  const added = OPERATIONS.vrrp.path();
  if (pathname.includes("/api"))
    return `Remove /api and what follows from base_url: the exporter adds ${added}.`;
  return pathname === "/"
    ? `Check the port, and whether base_url needs a path: the exporter adds ${added}.`
    : `Check the path ${pathname} in base_url: the exporter adds ${added}.`;
}

async function noTlsAdvice(appliance: ApplianceConfig, io: Io): Promise<string> {
  return (await speaksHttp(appliance, io))
    ? "The port speaks HTTP without TLS: use the HTTPS port, or http:// with allow_http: true, which sends the password unencrypted."
    : "The port does not speak TLS: check the port in base_url.";
}

const HTTPS_PORT = 443;

/** Whether a GET without credentials has an answer in plain HTTP. */
async function speaksHttp({ baseUrl, http, polling }: ApplianceConfig, io: Io): Promise<boolean> {
  const { hostname, port } = new URL(baseUrl);
  const createClient = createClients(io, io.clock);
  const plainUrl = `http://${hostname}:${port || HTTPS_PORT}`;
  const client = createClient({ baseUrl: plainUrl, http: { ...http, basicAuth: undefined } });
  const answer = await client.get("/", polling.vrrp.timeoutMs);
  client.close();
  return answer.ok || answer.failure.status !== undefined;
}

function trustAdvice({ http: { tls } }: ApplianceConfig): string | undefined {
  if (tls.knownCertificates !== undefined)
    return "Run appliance-exporter trust, and compare each SHA-256 with the one that the appliance itself shows.";
  return isPinned(tls)
    ? undefined
    : "If the certificate is self-signed, set tls_config.known_certificates_file and run appliance-exporter trust.";
}
