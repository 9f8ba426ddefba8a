import { healthy, refusesGarbage, resetsAtOnce, resetsAtRequest, silent } from "./behaviours.ts";
import { http, https, httpsExpected, refusing, swallowingSyns, unreachable } from "./endpoints.ts";
import type { FailingPoll } from "./failing-polls.ts";

/** Appliances that cannot be reached, or not be trusted. */
export const FAILING_CONNECTIONS: readonly FailingPoll[] = [
  {
    fault: 1,
    name: "a closed port",
    open: refusing,
    reason: "connect",
    detail: /^connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
  },
  {
    fault: 1,
    name: "an address without a route",
    open: unreachable("127.255.255.255"),
    reason: "connect",
    detail: /^connect ENETUNREACH 127\.255\.255\.255:9/,
  },
  { fault: 1, name: "a reset at once", open: http(resetsAtOnce), reason: "connect", detail: /ECONNRESET/ },
  {
    fault: 1,
    name: "a reset at the request",
    open: http(resetsAtRequest),
    reason: "connect",
    detail: "read ECONNRESET",
  },
  {
    fault: 2,
    name: "a SYN swallowed",
    open: swallowingSyns,
    reason: "timeout",
    detail: "no complete answer within 3000 ms; the connection was still being made",
  },
  {
    fault: 2,
    name: "a TLS handshake never answered",
    open: httpsExpected(silent),
    reason: "timeout",
    detail: "no complete answer within 3000 ms; the TLS handshake was not finished",
  },
  {
    fault: 11,
    name: "a name that nobody knows",
    open: unreachable("no-such-host.invalid"),
    reason: "dns",
    detail: /^getaddrinfo (ENOTFOUND|EAI_AGAIN) no-such-host\.invalid$/,
  },
  {
    fault: 10,
    name: "an expired certificate",
    open: https(healthy, { notAfter: new Date(Date.now() - 60_000) }),
    reason: "tls",
    detail: "the certificate is not trusted: CERT_HAS_EXPIRED",
  },
  {
    fault: 10,
    name: "a certificate of an unknown authority",
    open: https(healthy, { issuedBy: "stranger" }),
    reason: "tls",
    detail: "the certificate is not trusted: UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  },
  {
    fault: 10,
    name: "a certificate for another name",
    open: https(healthy, { hosts: ["other.example"] }),
    reason: "tls",
    detail: "the certificate is not trusted: ERR_TLS_CERT_ALTNAME_INVALID",
  },
  {
    fault: 10,
    name: "plain HTTP where TLS is expected",
    open: httpsExpected(refusesGarbage),
    reason: "tls",
    detail: /^ERR_SSL_WRONG_VERSION_NUMBER/,
  },
  {
    fault: 10,
    name: "a client certificate wanted, TLS 1.3",
    open: https(healthy, { wantsClientCertificate: true }),
    reason: "tls",
    detail: /^ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED/,
  },
  {
    fault: 10,
    name: "a client certificate wanted, TLS 1.2",
    open: https(healthy, { wantsClientCertificate: true, maxVersion: "TLSv1.2" }),
    reason: "tls",
    detail: /^ERR_SSL_\S*ALERT_HANDSHAKE_FAILURE/,
  },
];
