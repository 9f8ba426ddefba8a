import { GOT_MARKUP } from "../api/json.ts";
import { OPERATIONS } from "../api/operations.ts";
import { isPinned, type PresentedCertificate } from "../client/certificate.ts";
import { NO_TLS } from "../client/errors.ts";
import type { Failure } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { listFew } from "../config/shared-addresses.ts";
import type { Observation } from "../polling/observation.ts";
import { groupBy } from "../support/group-by.ts";
import { untestedProtocols } from "./report.ts";

/** The results of an appliance. */
interface Polled {
  readonly appliance: ApplianceConfig;
  readonly observations: readonly Observation[];
}

/** What the user can do about failures: each sentence once, with the appliances that it concerns; empty if there are none. */
export function adviceText(polled: readonly Polled[]): string {
  const all = polled.flatMap((each) =>
    adviceOn(each).map((advice) => ({ name: each.appliance.name, advice })),
  );
  const lines = Array.from(
    groupBy(all, ({ advice }) => advice),
    ([advice, concerned]) => `${listFew(concerned.map(({ name }) => name))}: ${advice}\n`,
  );
  return lines.length === 0 ? "" : `\nWhat to do:\n${lines.join("")}`;
}

/** What the user can do about the results of an appliance: sentences, without duplicates. */
export function adviceOn({ appliance, observations }: Polled): readonly string[] {
  const isListed = observations.some(({ kind, outcome }) => kind === "vrrp" && outcome.ok);
  const advice = observations.map((each) =>
    each.kind === "vrrp" ? adviceOnList(each, appliance) : adviceOnWebsite(each, isListed, appliance),
  );
  return [...new Set(advice.filter((each) => each !== undefined))];
}

function adviceOnList({ outcome, certificate }: Observation, appliance: ApplianceConfig): string | undefined {
  if (outcome.ok) return undefined;
  const { reason, status = 0, message } = outcome.failure;
  const isRedirect = status >= 300 && status < 400;
  if (reason === "auth") return authAdvice(outcome.failure, appliance);
  if (reason === "dns" || reason === "connect" || reason === "timeout")
    return `Check host and port of ${appliance.baseUrl}, and whether a firewall blocks them.`;
  if (reason === "tls")
    return message.includes(NO_TLS) ? NO_TLS_ADVICE : tlsAdvice(message, certificate, appliance);
  return status === 404 || isRedirect || message.includes(GOT_MARKUP)
    ? `Check port and path of ${appliance.baseUrl}: the exporter adds ${OPERATIONS.vrrp.path()}.`
    : undefined;
}

/** Advice on other operations than the list. `isListed`: whether the list succeeded. */
function adviceOnWebsite(
  observation: Observation,
  isListed: boolean,
  appliance: ApplianceConfig,
): string | undefined {
  if (!("websiteId" in observation)) return undefined;
  const { websiteId, outcome } = observation;
  if (!outcome.ok) {
    const { reason, status } = outcome.failure;
    // The list had the same credentials.
    if (reason === "auth") return authAdvice(isListed ? { status: FORBIDDEN } : outcome.failure, appliance);
    return isListed && status === 404
      ? `The appliance has no website ${websiteId}: check the id.`
      : undefined;
  }
  const untested = untestedProtocols(observation, appliance);
  return untested.length === 0
    ? undefined
    : `The appliance does not test website ${websiteId} over ${untested.join(" and ")}: correct its protocol.`;
}

const FORBIDDEN = 403;

function authAdvice({ status }: Pick<Failure, "status">, { http: { basicAuth } }: ApplianceConfig): string {
  if (basicAuth === undefined) return "The appliance demands credentials: set http_client.basic_auth.";
  const { username, password } = basicAuth;
  const user = `user ${JSON.stringify(username)}`;
  if (status === FORBIDDEN)
    return `The appliance does not permit this: check the permissions of ${user} on it.`;
  const where = password.kind === "file" ? ` in ${JSON.stringify(password.path)}` : "";
  return `The appliance refuses the credentials: check ${user} and the password${where}.`;
}

const NO_TLS_ADVICE =
  "The port does not speak TLS: check the port in base_url. If it speaks HTTP, use the HTTPS port, " +
  "or http:// with allow_http: true, which sends the password unencrypted.";

function tlsAdvice(
  message: string,
  certificate: PresentedCertificate | undefined,
  { http: { tls } }: ApplianceConfig,
): string | undefined {
  if (message.includes("ALERT_CERTIFICATE_REQUIRED"))
    return "The appliance demands a client certificate: set tls_config.cert_file and tls_config.key_file.";
  if (certificate === undefined || tls.certificateSha256.includes(certificate.sha256)) return undefined;
  if (tls.knownCertificates !== undefined)
    return "Run appliance-exporter trust, and compare each SHA-256 with the one that the appliance itself shows.";
  return isPinned(tls)
    ? undefined
    : "If the certificate is self-signed, set tls_config.known_certificates_file and run appliance-exporter trust.";
}
