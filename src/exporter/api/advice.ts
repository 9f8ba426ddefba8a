import { keysOf } from "../../support/keys.ts";
import { listedBriefly } from "../../support/text.ts";
import type { Failure, FailureReason } from "./failure.ts";

/** What advice names, as far as it is known. */
export interface AdviceFacts {
  /** The `base_url`. */
  readonly baseUrl?: string | undefined;
  /** The path of the VRRP list under it, and the port at which the API usually is. */
  readonly listPath?: string;
  readonly port?: number;
  /** The first release that the API is written for. @see ApplianceKind */
  readonly since?: string | undefined;
  /** The configured user, with the path of its password file if it has one; `null` if none is configured. */
  readonly user?: { readonly name: string; readonly passwordFile?: string | undefined } | null;
}

type Sentence = (facts: AdviceFacts & Pick<Failure, "permission">) => string;

const KNOWN_CERTIFICATES = "run appliance-exporter trust";
const LEGACY = "for an old device, set tls_config.insecure_legacy_tls";

const credentials: Sentence = ({ user, permission }) => {
  if (user === null) return "The appliance demands credentials: set http_client.basic_auth";
  const permissions = `its permissions on the appliance${permission === undefined ? "" : ` (${permission})`}`;
  if (user === undefined) return `Check the user, ${permissions}, and the password`;
  const where = user.passwordFile === undefined ? "" : ` in ${JSON.stringify(user.passwordFile)}`;
  return `Check user ${JSON.stringify(user.name)}, ${permissions}, and the password${where}`;
};

/** The advice about each reason, one sentence. */
const OF_REASON: Readonly<Record<FailureReason, Sentence>> = {
  dns: () => "Check the name server of this host: it did not answer about the name in base_url",
  connect: () => "Check that the appliance runs, and the network between it and the exporter",
  tls: () => `Look at the TLS settings of the appliance; ${LEGACY}`,
  timeout: () =>
    "Check that the appliance runs and no firewall drops its packets; if it is slow, raise the timeout in polling",
  auth: credentials,
  http_status: () => "Look at what the appliance answers with poll --raw, and at its log",
  protocol: () => "Check the port in base_url: what answers there is no HTTP server, or a broken one",
  too_large: () => "Check base_url with poll --raw: no answer of the management API is that large",
  decode: () =>
    "Check base_url with poll --raw: what answers is not the management API, or another version of it",
  unsupported: () => "Update the firmware of the appliance if you need this operation",
  vip: () => "Set base_url to the own address of the appliance",
  proxy: () => "Check proxy_url, and that the proxy permits CONNECT to the appliance",
  secret: () => "Let the exporter's user read the password file, and write one line into it",
  appliance_down: () => "Look at why the poll of its VRRP list fails",
  stalled: () => "Restart the exporter, and report its log",
  not_scheduled: () => "Nothing has to be done: its schedule rests",
  local: () => "Look at the limits of this host: open files, memory, ports and disk errors",
  internal: () => "Report the log to the maker of the exporter",
};

/** What a failure is in detail, each with advice of its own. */
const OF_CODE = {
  /** ECONNREFUSED. */
  refused: () =>
    "Nothing listens there: check the port in base_url, and the management service of the appliance",
  /** EHOSTUNREACH, ENETUNREACH. */
  unreachable: () =>
    "Check the address in base_url, and the routes and the firewall between it and this host",
  /** ECONNRESET, EPIPE. */
  reset: () =>
    "Look at the management service and its access list: it accepts a connection and breaks it off",
  /** The peer has closed the connection without an answer. */
  closed: () =>
    "Look at the management service and its access list: it closes the connection without an answer",
  /** ENOTFOUND. */
  unknown_host: () =>
    "Check the spelling of the name in base_url, and the name server of this host: it knows no such name",
  no_port: ({ port }) =>
    `Add the port of the management API to base_url${port === undefined ? "" : `, such as :${port}`}: it has none, or the usual one of its scheme`,
  no_tls: () =>
    "The port does not speak TLS: check the port in base_url, or write http:// with allow_http, which sends the password unencrypted",
  maybe_tls: () => "If the port speaks TLS, write https:// in place of http://",
  /** The versions, keys, ciphers or extensions of the peer are too old for the default. */
  legacy_tls: () =>
    "Update the firmware or its key, or leave min_version out; for an old device, set tls_config.insecure_legacy_tls, which gives up protection against eavesdroppers",
  no_common_cipher: () =>
    `It accepts no cipher of the exporter, or demands a client certificate: set tls_config.cert_file and key_file; ${LEGACY}`,
  client_certificate: () =>
    "The appliance demands a client certificate that it trusts: set tls_config.cert_file and key_file",
  not_pinned: () =>
    "Compare the SHA-256 with the one that the appliance itself shows, then run appliance-exporter trust or correct certificate_sha256",
  self_signed: () => `The certificate signs itself: ${KNOWN_CERTIFICATES}`,
  unknown_authority: () =>
    `Add the authority that signed the certificate to ca_file; if it is the appliance's own, ${KNOWN_CERTIFICATES}`,
  missing_issuer: () =>
    `The appliance does not send the certificate of its issuer: add that there or to ca_file, or ${KNOWN_CERTIFICATES}`,
  expired: () =>
    "Renew the certificate on the appliance, or trust it although it has expired: " +
    "set tls_config.known_certificates_file in place of ca_file and run appliance-exporter trust",
  expired_signer: () =>
    "Renew the certificate that has expired: an intermediate in the chain on the appliance, an authority in ca_file",
  not_yet_valid: () => "Check the clocks of the appliance and of this machine",
  other_name: () =>
    "The certificate has other names than base_url: set tls_config.server_name to one of them",
  /** An alert: the peer, often a proxy, has no certificate for the name that it was asked for, or was asked for none. */
  unknown_name: () =>
    "It answers to other names only: write one of them into base_url or tls_config.server_name",
  wrong_purpose: () =>
    `The certificate is not for servers: make one with extendedKeyUsage serverAuth, or ${KNOWN_CERTIFICATES}`,
  /** A status from 300 to 399. */
  redirect: () =>
    "Write the target of the redirect into base_url if it is the management API: redirects are not followed",
  /** A status that says that nothing is at the path. @see Failure.isGone */
  gone: ({ baseUrl = "base_url", listPath = "the path of the VRRP list", since }) =>
    `Check the port and the path of ${baseUrl}: the exporter adds ${listPath}${since === undefined ? "" : `, which releases before ${since} may lack`}`,
  only_basic: () => "Enable Basic authentication for the management API: the exporter supports no other",
  encoded: () => "Turn compression off for the management API: the exporter asks for answers without it",
  /** 407 of the proxy. */
  proxy_auth: () =>
    "Write the user and the password of the proxy into proxy_url: http://user:password@host:port",
} as const satisfies Readonly<Record<string, Sentence>>;

export type FailureCode = keyof typeof OF_CODE;
export const FAILURE_CODES = keysOf(OF_CODE);

/** Returns what to do about a failure of the VRRP list, in one sentence. */
export function adviceOn(failure: Failure, facts: AdviceFacts = {}): string {
  const { reason, permission } = failure;
  const code = codeFrom(failure, facts);
  const sentence = code === undefined ? OF_REASON[reason] : OF_CODE[code];
  return sentence({ ...facts, permission });
}

function codeFrom(failure: Failure, { baseUrl, port }: AdviceFacts): FailureCode | undefined {
  const { reason, isGone = false } = failure;
  const code = isGone ? "gone" : failure.code;
  if (baseUrl === undefined) return code;
  const { port: given, protocol } = new URL(baseUrl);
  const isUsual = String(port) === USUAL_PORTS[protocol];
  if (given === "" && !isUsual && (reason === "connect" || reason === "timeout")) return "no_port";
  return baseUrl.startsWith("http:") && mayBeOfTls(failure) ? "maybe_tls" : code;
}

const USUAL_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Whether a port with TLS may cause this failure of a request over `http://`: servers answer 400 or close the connection. */
function mayBeOfTls({ reason, code, status }: Failure): boolean {
  return reason === "protocol" || code === "reset" || code === "closed" || status === 400;
}

/** Returns the advice on a failure of a request over `http://`, if TLS may be missing. */
export function schemeAdvice(failure: Failure): string | undefined {
  return mayBeOfTls(failure) ? OF_CODE.maybe_tls() : undefined;
}

/** Returns what to do about ids of websites that the appliance does not know; `known` has the ids that it knows. */
export function adviceOnWebsites(ids: readonly number[], known: readonly number[] | undefined): string {
  const which = `the id${ids.length > 1 ? "s" : ""} ${listedBriefly(ids.map(String))}`;
  const others = known === undefined ? "" : `, it has ${listedBriefly(known.map(String))}`;
  return `The appliance has no website with ${which}${others}: correct websites, or set website_discovery: true`;
}
