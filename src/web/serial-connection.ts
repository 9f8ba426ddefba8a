import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { Server as TlsServer } from "node:tls";

const LF = 0x0a;
const CR = 0x0d;

/** Takes the next bytes of a connection; returns the index after the end of a request head, if they contain one. */
export type FindHeadEnd = (piece: Uint8Array) => number | undefined;

/**
 * Finds the ends of request heads: the first empty line after each head. Lines end with LF or CRLF. Empty lines before a
 * request belong to it.
 *
 * @see RFC 9112, 2.1 and 2.2
 */
export function createHeadFinder(): FindHeadEnd {
  let line: "before" | "empty" | "text" = "before";
  return (piece) => {
    for (const [index, byte] of piece.entries()) {
      if (byte === LF && line === "empty") {
        line = "before";
        return index + 1;
      }
      if (byte === LF && line === "text") line = "empty";
      else if (byte !== LF && byte !== CR) line = "text";
    }
    return undefined;
  };
}

/** Bytes to read at once. The rest stays in the socket, which stops reading from the kernel when its buffer is full. */
const PIECE_BYTES = 1024;
type Done = (error?: Error | null) => void;

/**
 * A client's connection as Node's HTTP server sees it: the next request becomes readable after `release`, when the response
 * to the previous one is sent. The HTTP parser parses all available bytes at once, so further requests stay unread until
 * then. The end of the client's side waits too: a client that has closed its side still gets its response.
 */
class SerialConnection extends Duplex {
  readonly #socket: Socket;
  readonly #findHeadEnd = createHeadFinder();
  #isAnswering = false;
  #hasEnded = false;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("readable", () => this.#handOver());
    socket.on("end", () => {
      this.#hasEnded = true;
      this.#handOver();
    });
    socket.on("timeout", () => this.emit("timeout"));
    // `close` follows.
    socket.on("error", () => {});
    socket.on("close", () => this.destroy());
    this.on("error", () => {});
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }
  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }
  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }
  get localPort(): number | undefined {
    return this.#socket.localPort;
  }
  get timeout(): number | undefined {
    return this.#socket.timeout;
  }
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }
  /** Closes the connection when everything is sent, even if the client still sends. */
  destroySoon(): void {
    this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** Continues with the next request. */
  release(): void {
    this.#isAnswering = false;
    this.#handOver();
  }

  #handOver(): void {
    while (!this.#isAnswering && this.writable) {
      const piece: Buffer | null = this.#socket.read(Math.min(this.#socket.readableLength, PIECE_BYTES));
      if (piece === null) break;
      const end = this.#findHeadEnd(piece);
      if (end === undefined) this.push(piece);
      else this.#request(piece.subarray(0, end), piece.subarray(end));
    }
    if (!this.#isAnswering && this.#hasEnded && !this.readableEnded) this.push(null);
  }

  #request(head: Buffer, rest: Buffer): void {
    this.#isAnswering = true;
    if (rest.length > 0) this.#socket.unshift(rest);
    // In a later turn of the event loop, so that a client that pipelines requests does not stop all other work.
    setImmediate(() => {
      if (!this.destroyed) this.push(head);
    });
  }

  override _read(): void {
    // Pieces are pushed as they arrive: the parser takes each at once and rejects a head that is too long.
  }
  /** One after the other: TLS keeps an encrypted copy of what is written until the client has read it. */
  override _write(chunk: Buffer, _: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, done);
  }
  override _final(done: Done): void {
    this.#socket.end(() => done());
  }
  override _destroy(error: Error | null, done: Done): void {
    this.#socket.destroy();
    done(error);
  }
}

/**
 * Makes a server read the requests of each connection one at a time: the next one after the previous response is sent. A
 * request with a body is the last one of its connection, because no page reads a body. Closes connections that are not
 * accepted; over TLS, `isAccepted` is called after the handshake.
 */
export function readRequestsSerially(
  server: Server | SecureServer,
  isAccepted: (socket: Socket) => boolean,
): void {
  // The event that passes connections to Node's HTTP server.
  const event = server instanceof TlsServer ? "secureConnection" : "connection";
  const serveHttp = server.listeners(event);
  server.removeAllListeners(event);
  server.on(event, (socket: Socket) => {
    if (!isAccepted(socket)) {
      socket.destroy();
      return;
    }
    const connection = new SerialConnection(socket);
    for (const serve of serveHttp) serve.call(server, connection);
  });
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket }: { readonly socket: unknown } = request;
    if (hasBody(request)) response.setHeader("connection", "close");
    if (socket instanceof SerialConnection) response.once("close", () => socket.release());
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
