import type { FailureReason } from "../../src/polling/failure.ts";
import {
  answers,
  drips,
  floods,
  floodsInChunks,
  healthy,
  LIST,
  refusesGarbage,
  resetsAtOnce,
  resetsAtRequest,
  says,
  saysAndEnds,
  saysAndResets,
  silent,
} from "./behaviours.ts";
import {
  http,
  https,
  httpsExpected,
  refusing,
  swallowingSyns,
  unreachable,
  type OpenEndpoint,
} from "./endpoints.ts";

/** A fault that every poll of the VRRP list meets. */
export interface FailingPoll {
  readonly fault: number;
  readonly name: string;
  readonly open: OpenEndpoint;
  readonly reason: FailureReason;
  /** What the log says of it. */
  readonly detail: string | RegExp;
  /** Most bytes of the answer that one poll takes in. */
  readonly maxBytesPerPoll?: number;
}

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const DEADLINE = "no complete answer within 700 ms; the appliance was connected";
const LOGIN_PAGE = "<!doctype html><title>Login</title><form action=/login></form>";
const NESTING = "$: expected at most 64 levels of nesting";
const MIB = 1024 * 1024;

const UNREACHED: readonly FailingPoll[] = [
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
    detail: "no complete answer within 700 ms; the connection was still being made",
  },
  {
    fault: 2,
    name: "a TLS handshake never answered",
    open: httpsExpected(silent),
    reason: "timeout",
    detail: "no complete answer within 700 ms; the TLS handshake was not finished",
  },
  {
    fault: 11,
    name: "a name that nobody knows",
    open: unreachable("no-such-host.invalid"),
    reason: "dns",
    detail: /^getaddrinfo (ENOTFOUND|EAI_AGAIN) no-such-host\.invalid$/,
  },
];

const ENDLESS: readonly FailingPoll[] = [
  { fault: 3, name: "no answer", open: http(silent), reason: "timeout", detail: DEADLINE },
  {
    fault: 3,
    name: "headers that drip",
    open: http(drips("HTTP/1.1 200 OK\r\n", "X: y\r\n")),
    reason: "timeout",
    detail: DEADLINE,
  },
  {
    fault: 3,
    name: "a body that drips",
    open: http(drips("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", " ")),
    reason: "timeout",
    detail: DEADLINE,
  },
  {
    fault: 3,
    name: "endless 103s",
    open: http(drips("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")),
    reason: "timeout",
    detail: DEADLINE,
  },
  {
    fault: 4,
    name: "a body of 50 MB",
    open: http(floods("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")),
    reason: "too_large",
    detail: "UND_ERR_RES_EXCEEDED_MAX_SIZE: Response content exceeded max size",
    maxBytesPerPoll: 16 * MIB,
  },
  {
    fault: 4,
    name: "an endless body",
    open: http(floodsInChunks()),
    reason: "too_large",
    detail: "UND_ERR_RES_EXCEEDED_MAX_SIZE: Response content exceeded max size",
    maxBytesPerPoll: 16 * MIB,
  },
  {
    fault: 4,
    name: "headers of 20 KiB",
    open: http(answers(LIST, "200 OK", [`X: ${"y".repeat(20 * 1024)}`])),
    reason: "protocol",
    detail: "UND_ERR_HEADERS_OVERFLOW: Headers Overflow Error",
  },
  {
    fault: 4,
    name: "endless headers",
    open: http(floods("HTTP/1.1 200 OK\r\n", Buffer.from("X: y\r\n".repeat(10_000)))),
    reason: "protocol",
    detail: "UND_ERR_HEADERS_OVERFLOW: Headers Overflow Error",
    maxBytesPerPoll: 8 * MIB,
  },
];

const BROKEN: readonly FailingPoll[] = [
  {
    fault: 5,
    name: "an end before Content-Length is reached",
    open: http(saysAndEnds(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${LIST}`)),
    reason: "protocol",
    detail: "UND_ERR_SOCKET: other side closed",
  },
  {
    fault: 5,
    name: "a chunk cut short",
    open: http(saysAndEnds(`${CHUNKED}3e8\r\n${LIST}`)),
    reason: "protocol",
    detail: "UND_ERR_SOCKET: other side closed",
  },
  {
    fault: 5,
    name: "chunks without the last one",
    open: http(saysAndEnds(`${CHUNKED}${chunk(LIST)}`)),
    reason: "protocol",
    detail: "UND_ERR_SOCKET: other side closed",
  },
  {
    fault: 5,
    name: "a reset in the body",
    open: http(saysAndResets(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${LIST}`)),
    reason: "connect",
    detail: "read ECONNRESET",
  },
  {
    fault: 6,
    name: "the banner of an SSH server",
    open: http(({ socket }) => void socket.write("SSH-2.0-OpenSSH_9.6\r\n")),
    reason: "protocol",
    detail: "Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/)",
  },
  {
    fault: 6,
    name: "HTTP/0.9",
    open: http(saysAndEnds(LIST)),
    reason: "protocol",
    detail: "Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/)",
  },
  {
    fault: 6,
    name: "Content-Length before Transfer-Encoding",
    open: http(
      says(
        `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(LIST)}0\r\n\r\n`,
      ),
    ),
    reason: "protocol",
    detail: "UND_ERR_RES_CONTENT_LENGTH_MISMATCH: Response body length does not match content-length header",
  },
  {
    fault: 6,
    name: "Transfer-Encoding before Content-Length",
    open: http(
      says(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n${chunk(LIST)}0\r\n\r\n`,
      ),
    ),
    reason: "protocol",
    detail:
      "Response does not match the HTTP/1.1 protocol (Content-Length can't be present with Transfer-Encoding)",
  },
];

const STATUS: readonly FailingPoll[] = [
  {
    fault: 7,
    name: "204",
    open: http(says("HTTP/1.1 204 No Content\r\n\r\n")),
    reason: "http_status",
    detail: "the appliance answered with status 204",
  },
  {
    fault: 7,
    name: "302",
    open: http(answers(LIST, "302 Found", ["Location: /elsewhere"])),
    reason: "http_status",
    detail: "the appliance answered with status 302",
  },
  {
    fault: 7,
    name: "500",
    open: http(answers(LIST, "500 Internal Server Error")),
    reason: "http_status",
    detail: "the appliance answered with status 500",
  },
  {
    fault: 7,
    name: "999",
    open: http(answers(LIST, "999 Odd")),
    reason: "http_status",
    detail: "the appliance answered with status 999",
  },
  {
    fault: 8,
    name: "401",
    open: http(answers("{}", "401 Unauthorized")),
    reason: "auth",
    detail: "the appliance answered with status 401",
  },
  {
    fault: 8,
    name: "403",
    open: http(answers("{}", "403 Forbidden")),
    reason: "auth",
    detail: "the appliance answered with status 403",
  },
];

const UNTRUSTED: readonly FailingPoll[] = [
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
    detail: "the certificate is not trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE",
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
    detail: /^ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE/,
  },
];

const UNDECODABLE: readonly FailingPoll[] = [
  {
    fault: 16,
    name: "a login page with status 200",
    open: http(answers(LOGIN_PAGE)),
    reason: "decode",
    detail: "$: expected JSON, got markup",
  },
  {
    fault: 16,
    name: "an empty body",
    open: http(answers("")),
    reason: "decode",
    detail: "$: expected JSON, got nothing",
  },
  {
    fault: 16,
    name: "JSON of another shape",
    open: http(answers('["carp0"]')),
    reason: "decode",
    detail: "$: expected an object of interfaces, got an array",
  },
  {
    fault: 16,
    name: "a piece of JSON",
    open: http(answers(LIST.slice(0, -2))),
    reason: "decode",
    detail: "$: expected JSON, got text that is not JSON",
  },
  {
    fault: 18,
    name: "arrays nested a million deep",
    open: http(answers(nested("[", "]", 1e6))),
    reason: "decode",
    detail: NESTING,
  },
  {
    fault: 18,
    name: "a member nested a million deep",
    open: http(answers(`${LIST.slice(0, -1)},"carp1":${nested("[", "]", 1e6)}}`)),
    reason: "decode",
    detail: NESTING,
  },
  {
    fault: 18,
    name: "half a million objects that never end",
    open: http(answers(nested('{"a":', "", 5e5))),
    reason: "decode",
    detail: NESTING,
  },
  {
    fault: 21,
    name: "100,000 interfaces",
    open: http(answers(manyInterfaces(100_000))),
    reason: "too_large",
    detail: "$: expected at most 4096 interfaces, got 100000",
  },
];

/** Every row of the table. */
export const FAILING_POLLS: readonly FailingPoll[] = [
  ...UNREACHED,
  ...ENDLESS,
  ...BROKEN,
  ...STATUS,
  ...UNTRUSTED,
  ...UNDECODABLE,
];

function manyInterfaces(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, nth) => [`carp${nth}`, {}])));
}

function nested(open: string, close: string, depth: number): string {
  return open.repeat(depth) + close.repeat(depth);
}
