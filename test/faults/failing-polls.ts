import type { FailureReason } from "../../src/exporter/api/failure.ts";
import {
  answer,
  answers,
  closesAtRequest,
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
  behindProxy,
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
}

/** Begins the details of polls that their deadline has ended. */
export const DEADLINE = "no complete answer within 3000 ms;";
const CONTINUE = "HTTP/1.1 100 Continue\r\n";
const EARLY_HINTS = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const PARTIAL = `HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${LIST}`;
const CHUNK = `${LIST.length.toString(16)}\r\n${LIST}\r\n`;
const TOO_LONG = "the body has more than 262144 bytes";
const FLOOD = "the answer has far more bytes than its body may have";
const HEADERS_TOO_LONG = "UND_ERR_HEADERS_OVERFLOW: Headers Overflow Error";
const CUT_OFF = "UND_ERR_SOCKET: other side closed";
const NO_HTTP = "Response does not match the HTTP/1.1 protocol";

type Cases = Readonly<Record<string, readonly [open: OpenEndpoint, detail: string | RegExp]>>;

function failing(fault: number, reason: FailureReason, cases: Cases): readonly FailingPoll[] {
  return Object.entries(cases).map(([name, [open, detail]]) => ({ fault, name, open, reason, detail }));
}

/** Every row of the table. */
export const FAILING_POLLS: readonly FailingPoll[] = [
  ...failing(1, "connect", {
    "a closed port": [refusing, /^connect ECONNREFUSED 127\.0\.0\.1:\d+$/],
    "an address without a route": [
      unreachable("127.255.255.255"),
      /^connect ENETUNREACH 127\.255\.255\.255:9/,
    ],
    "a reset at once": [http(resetsAtOnce), /ECONNRESET/],
    "a reset at the request": [http(resetsAtRequest), "read ECONNRESET"],
    "an end at the request": [http(closesAtRequest), "the connection was closed without an answer"],
  }),
  ...failing(2, "timeout", {
    "a SYN swallowed": [swallowingSyns, `${DEADLINE} the connection was still being made`],
    "a TLS handshake never answered": [
      httpsExpected(silent),
      `${DEADLINE} the TLS handshake was not finished`,
    ],
  }),
  ...failing(3, "timeout", {
    "no answer": [http(silent), `${DEADLINE} the appliance was connected`],
    "headers that drip": [
      http(drips("HTTP/1.1 200 OK\r\n", "X: y\r\n")),
      `${DEADLINE} the appliance was connected`,
    ],
    "a body that drips": [
      http(drips("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", " ")),
      `${DEADLINE} the appliance was connected`,
    ],
    "endless 103s": [http(drips("", EARLY_HINTS)), `${DEADLINE} the appliance was connected`],
  }),
  ...failing(4, "too_large", {
    "a body of 50 MB": [http(floods("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")), TOO_LONG],
    "an endless body": [http(floodsInChunks()), TOO_LONG],
    "a flood of 103s": [http(floods("", Buffer.from(EARLY_HINTS.repeat(1000)))), FLOOD],
    "a flood of line breaks": [http(floods("", Buffer.from("\r\n".repeat(30_000)))), FLOOD],
    "an endless extension of a chunk": [http(floods(`${CHUNKED}5;x=`, Buffer.alloc(60_000, "x"))), FLOOD],
  }),
  ...failing(4, "protocol", {
    "headers of 20 KiB": [http(answers(LIST, "200 OK", [`X: ${"y".repeat(20_000)}`])), HEADERS_TOO_LONG],
    "endless headers": [
      http(floods("HTTP/1.1 200 OK\r\n", Buffer.from("X: y\r\n".repeat(10_000)))),
      HEADERS_TOO_LONG,
    ],
  }),
  ...failing(5, "protocol", {
    "an end before Content-Length is reached": [http(saysAndEnds(PARTIAL)), CUT_OFF],
    "a chunk cut short": [http(saysAndEnds(`${CHUNKED}3e8\r\n${LIST}`)), CUT_OFF],
    "chunks without the last one": [http(saysAndEnds(CHUNKED + CHUNK)), CUT_OFF],
  }),
  ...failing(5, "connect", { "a reset in the body": [http(saysAndResets(PARTIAL)), "read ECONNRESET"] }),
  ...failing(6, "protocol", {
    "the banner of an SSH server": [
      http(({ socket }) => void socket.write("SSH-2.0-OpenSSH_9.6\r\n")),
      `${NO_HTTP} (Expected HTTP/, RTSP/ or ICE/)`,
    ],
    "HTTP/0.9": [http(saysAndEnds(LIST)), `${NO_HTTP} (Expected HTTP/, RTSP/ or ICE/)`],
    "a 101 that nobody asked for": [
      http(answers(LIST, "101 Switching Protocols")),
      "the answer has a status that is invalid for this request",
    ],
    "Content-Length before Transfer-Encoding": [
      http(
        says(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}0\r\n\r\n`),
      ),
      "UND_ERR_RES_CONTENT_LENGTH_MISMATCH: Response body length does not match content-length header",
    ],
    "Transfer-Encoding before Content-Length": [
      http(
        says(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n${CHUNK}0\r\n\r\n`),
      ),
      `${NO_HTTP} (Content-Length can't be present with Transfer-Encoding)`,
    ],
  }),
  ...failing(76, "protocol", {
    "endless 100s": [http(drips("", `${CONTINUE}\r\n`)), "UND_ERR_SOCKET: bad response"],
    "a 100 Continue of endless headers": [
      http(floods(CONTINUE, Buffer.from("X: y\r\n".repeat(10_000)))),
      HEADERS_TOO_LONG,
    ],
  }),
  ...failing(76, "timeout", {
    "a 100 Continue whose headers drip": [
      http(drips(CONTINUE, "X: y\r\n")),
      `${DEADLINE} the appliance was connected`,
    ],
  }),
  ...failing(74, "http_status", {
    "408 on a new connection": [
      http(saysAndEnds(answer("", "408 Request Timeout"))),
      "answered with status 408",
    ],
  }),
  ...failing(7, "http_status", {
    "204": [http(says("HTTP/1.1 204 No Content\r\n\r\n")), "answered with status 204"],
    "302": [
      http(answers(LIST, "302 Found", ["Location: /elsewhere"])),
      "answered with status 302, a redirect to /elsewhere",
    ],
    "500": [http(answers(LIST, "500 Internal Server Error")), "answered with status 500"],
    "999": [http(answers(LIST, "999 Odd")), "answered with status 999"],
  }),
  ...failing(8, "auth", {
    "401": [http(answers("{}", "401 Unauthorized")), "answered with status 401"],
    "403": [http(answers("{}", "403 Forbidden")), "answered with status 403"],
  }),
  ...failing(10, "tls", {
    "an expired certificate": [
      https(healthy, { notAfter: new Date(Date.now() - 60_000) }),
      "the certificate is not trusted: CERT_HAS_EXPIRED",
    ],
    "a certificate of an unknown authority": [
      https(healthy, { issuedBy: "stranger" }),
      "the certificate is not trusted: UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    ],
    "a certificate for another name": [
      https(healthy, { hosts: ["other.example"] }),
      "the certificate is not trusted: ERR_TLS_CERT_ALTNAME_INVALID",
    ],
    "plain HTTP where TLS is expected": [httpsExpected(refusesGarbage), /^ERR_SSL_WRONG_VERSION_NUMBER/],
    "a client certificate wanted, TLS 1.3": [
      https(healthy, { wantsClientCertificate: true }),
      /^ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED/,
    ],
    "a client certificate wanted, TLS 1.2": [
      https(healthy, { wantsClientCertificate: true, maxVersion: "TLSv1.2" }),
      /^ERR_SSL_\S*ALERT_HANDSHAKE_FAILURE/,
    ],
  }),
  ...failing(11, "dns", {
    "a name that nobody knows": [
      unreachable("no-such-host.invalid"),
      /^getaddrinfo (ENOTFOUND|EAI_AGAIN) no-such-host\.invalid$/,
    ],
  }),
  ...failing(12, "proxy", {
    "a proxy that answers 407": [
      behindProxy(says(answer("", "407 Proxy Authentication Required"))),
      "the proxy answered CONNECT with status 407",
    ],
    "a proxy that stays silent": [behindProxy(silent), `${DEADLINE} the proxy had not answered CONNECT`],
    "a proxy whose answer drips": [
      behindProxy(drips("HTTP/1.1 200 OK\r\n", "X: y\r\n")),
      `${DEADLINE} the proxy had not answered CONNECT`,
    ],
    "a proxy that closes": [
      behindProxy(closesAtRequest),
      "the proxy does not connect (ECONNRESET: socket hang up)",
    ],
    "a proxy that nobody runs": [
      behindProxy(undefined),
      /^the proxy does not connect \(connect ECONNREFUSED 127\.0\.0\.1:\d+\)$/,
    ],
  }),
  ...failing(16, "decode", {
    "a login page with status 200": [
      http(answers("<!doctype html><title>Login</title><form action=/login></form>")),
      "$: expected JSON, got markup",
    ],
    "an empty body": [http(answers("")), "$: expected JSON, got nothing"],
    "JSON of another shape": [
      http(answers('["carp0"]')),
      "$: expected an object of interfaces, got an array",
    ],
    "a piece of JSON": [http(answers(LIST.slice(0, -2))), "$: expected JSON, got text that is not JSON"],
  }),
  ...failing(18, "too_large", {
    "a member nested 100,000 deep": [
      http(answers(`${LIST.slice(0, -1)},"carp1":${"[".repeat(1e5)}${"]".repeat(1e5)}}`)),
      "$: expected at most 8 levels of nesting",
    ],
  }),
  ...failing(21, "too_large", {
    "1,025 interfaces": [
      http(answers(JSON.stringify(Object.fromEntries(Array.from({ length: 1025 }, (_, nth) => [nth, {}]))))),
      "$: expected at most 1024 interfaces",
    ],
  }),
  ...failing(44, "too_large", {
    "a list of 256 KiB and one byte": [http(answers(LIST.padEnd(256 * 1024 + 1))), TOO_LONG],
    "256 KiB in chunks of one byte": [
      http(says(CHUNKED + "1\r\n \r\n".repeat(256 * 1024))),
      "the body has more than 16384 chunks",
    ],
  }),
];
