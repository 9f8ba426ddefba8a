import { OPERATIONS } from "../api/operations.ts";
import { isPinned } from "../client/certificate.ts";
import { NO_TLS } from "../client/errors.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Polled } from "./poll-once.ts";

/** What the user can do about an appliance that does not answer its VRRP list: a sentence. */
export function adviceOn({ appliance, results: [list], certificate }: Polled): string | undefined {
  if (list === undefined || list.observation.outcome.ok) return undefined;
  const { reason, status, message } = list.observation.outcome.failure;
  if (reason === "auth") return authAdvice(appliance);
  if (status === 404)
    return `Check the path of ${appliance.baseUrl}: the exporter adds ${OPERATIONS.vrrp.path()}.`;
  if (message.includes(NO_TLS)) return NO_TLS_ADVICE;
  return reason === "tls" && certificate !== undefined && !isPinned(appliance.http.tls)
    ? "If the certificate is self-signed, set tls_config.known_certificates_file and run appliance-exporter trust."
    : undefined;
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
