import { OPERATIONS } from "../api/operations.ts";
import { isPinned } from "../client/certificate.ts";
import { NO_TLS } from "../client/errors.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { listed } from "../status/words.ts";
import type { Polled } from "./poll-once.ts";

/** What the user can do about an appliance that does not answer its VRRP list, or lacks websites: a sentence. */
export function adviceOn(polled: Polled): string | undefined {
  const { appliance, results, certificate } = polled;
  const [list] = results;
  if (list === undefined || list.observation.outcome.ok) return websiteAdvice(polled);
  const { reason, status, message } = list.observation.outcome.failure;
  if (reason === "auth") return authAdvice(appliance);
  if (status === 404)
    return `Check the path of ${appliance.baseUrl}: the exporter adds ${OPERATIONS.vrrp.path()}.`;
  if (message.includes(NO_TLS)) return NO_TLS_ADVICE;
  if (reason !== "tls" || certificate === undefined || isPinned(appliance.http.tls)) return undefined;
  const [, own = SELF_SIGNED] = OF_CERTIFICATES.find(([code]) => message.includes(code)) ?? [];
  return own;
}

const SELF_SIGNED =
  "If the certificate is self-signed, set tls_config.known_certificates_file and run appliance-exporter trust.";
/** By Node's error code. */
const OF_CERTIFICATES = [
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "The certificate has another name: use it in base_url or tls_config.server_name.",
  ],
  ["CERT_HAS_EXPIRED", "The certificate has expired: renew it on the appliance."],
  [
    "CERT_NOT_YET_VALID",
    "The certificate is not valid yet: check the clocks of this host and the appliance.",
  ],
] as const;

function websiteAdvice({ results }: Polled): string | undefined {
  const missing = results.flatMap(({ observation: { kind, outcome, ...of } }) =>
    kind === "website_test" && !outcome.ok && outcome.failure.status === 404 && "websiteId" in of
      ? of.websiteId
      : [],
  );
  if (missing.length === 0) return undefined;
  return `Check the website ids in the configuration: the appliance does not know ${listed(missing.map(String))}.`;
}

const NO_TLS_ADVICE =
  "The port does not speak TLS: check the port in base_url. If it speaks HTTP, use the HTTPS port, " +
  "or http:// with allow_http: true, which sends the password unencrypted.";

function authAdvice({ http: { basicAuth } }: ApplianceConfig): string {
  if (basicAuth === undefined) return "The appliance demands credentials: set http_client.basic_auth.";
  const { username, password } = basicAuth;
  const where = password.kind === "file" ? ` in ${JSON.stringify(password.path)}` : "";
  return `Check user ${JSON.stringify(username)}, its permissions on the appliance, and the password${where}.`;
}
