import {
  drips,
  floods,
  floodsInChunks,
  answers,
  LIST,
  says,
  saysAndEnds,
  saysAndResets,
  silent,
} from "./behaviours.ts";
import { http } from "./endpoints.ts";
import type { FailingPoll } from "./failing-polls.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const DEADLINE = "no complete answer within 3000 ms; the appliance was connected";
const MIB = 1024 * 1024;
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Answers that never end, are too much, or break off. */
export const FAILING_TRANSFERS: readonly FailingPoll[] = [
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
    detail: "the body has more than 262144 bytes",
    maxBytesPerPoll: 8 * MIB,
  },
  {
    fault: 4,
    name: "an endless body",
    open: http(floodsInChunks()),
    reason: "too_large",
    detail: "the body has more than 262144 bytes",
    maxBytesPerPoll: 8 * MIB,
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
    name: "a status of 000",
    open: http(answers(LIST, "000 Odd")),
    reason: "protocol",
    detail: "the answer has a status that is invalid for this request",
  },
  {
    fault: 6,
    name: "a 101 that nobody asked for",
    open: http(answers(LIST, "101 Switching Protocols")),
    reason: "protocol",
    detail: "the answer has a status that is invalid for this request",
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
