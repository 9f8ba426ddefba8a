import { OPERATIONS } from "../api/operations.ts";
import { NO_TLS } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Polled } from "./poll-once.ts";

/** What the user can do about an appliance that does not answer its VRRP list: a sentence. */
export function adviceOn({ appliance, results: [list] }: Polled): string | undefined {
  if (list === undefined || list.observation.outcome.ok) return undefined;
  const { reason, status, message } = list.observation.outcome.failure;
  if (reason === "auth") return authAdvice(appliance);
  if (status === 404)
    return `Check the path of ${appliance.baseUrl}: the exporter adds ${OPERATIONS.vrrp.path()}.`;
  if (message.includes(NO_TLS)) return NO_TLS_ADVICE;
  return UNKNOWN_ISSUER.test(message) ? SELF_SIGNED_ADVICE : undefined;
}

/** Node's codes for a certificate that no known authority signed. */
const UNKNOWN_ISSUER = /SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)/;

const SELF_SIGNED_ADVICE =
  "If the certificate is self-signed, set tls_config.known_certificates_file and run appliance-exporter trust.";

const NO_TLS_ADVICE =
  "The port does not speak TLS: check the port in base_url. If it speaks HTTP, use the HTTPS port, " +
  "or http:// with allow_http: true, which sends the password unencrypted.";

function authAdvice({ http: { basicAuth } }: ApplianceConfig): string {
  if (basicAuth === undefined) return "The appliance demands credentials: set http_client.basic_auth.";
  const { username, password } = basicAuth;
  const where = password.kind === "file" ? ` in ${JSON.stringify(password.path)}` : "";
  return `Check user ${JSON.stringify(username)}, its permissions on the appliance, and the password${where}.`;
}
