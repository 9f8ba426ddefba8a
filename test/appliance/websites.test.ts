import { createServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type Socket } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { testWebsite, type WebsiteTestOptions } from "../../src/appliance/websites.ts";
import { eventually } from "../support/eventually.ts";
import { createAuthority } from "../support/certificates.ts";
import { AUTHORITY, CLOSED_PORT, listen, websiteOf } from "./support.ts";

const OPTIONS: WebsiteTestOptions = { timeoutMs: 10_000, ca: AUTHORITY.cert, insecureSkipVerify: false };
/** Later versions of Node add advice. */
const UNTRUSTED = /^unable to verify the first certificate/;
const NEVER = new AbortController().signal;

const answerOk: RequestListener = (_, response) => {
  response.sendDate = false;
  response.writeHead(200, { "X-Secure": "yes" }).end();
};

/** A TCP server: every connection is passed to `talk`. */
async function listenRaw(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return listen(
    createTcpServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      talk(socket);
    }),
  );
}

async function listenSecure(hosts?: readonly string[], notAfter?: Date): Promise<number> {
  const leaf = await AUTHORITY.issue({ ...(hosts && { hosts }), ...(notAfter && { notAfter }) });
  return listen(createHttpsServer(leaf, answerOk));
}

/** The lines for a website that sends these bytes. */
async function linesFor(bytes: string | Buffer): Promise<readonly string[] | undefined> {
  const httpPort = await listenRaw((socket) => socket.once("data", () => socket.end(bytes)));
  const [block] = await testWebsite(websiteOf({ protocol: "http", httpPort }), OPTIONS, NEVER);
  return block?.lines;
}

test("sends HEAD for the website's path and returns the answer as received", async () => {
  const requests: string[] = [];
  const httpPort = await listen(
    createServer((request, response) => {
      requests.push(`${request.method} ${request.url} ${request.headers.host}`);
      response.sendDate = false;
      response
        .writeHead(301, "Gone Over There", ["LOCATION", "/a/b", "set-cookie", "a=1", "Set-Cookie", "b=2"])
        .end();
    }),
  );
  const website = websiteOf({ protocol: "http", httpPort, path: "/shop?x=1" });
  expect(await testWebsite(website, OPTIONS, NEVER)).toEqual([
    {
      protocol: "http",
      lines: [
        "HTTP/1.1 301 Gone Over There",
        "LOCATION: /a/b",
        "set-cookie: a=1",
        "Set-Cookie: b=2",
        "Connection: close",
      ],
    },
  ]);
  expect(requests).toEqual([`HEAD /shop?x=1 127.0.0.1:${httpPort}`]);
});

test.each([
  ["no reason phrase", "HTTP/1.1 204\r\n\r\n", ["HTTP/1.1 204"]],
  [
    "a body in spite of HEAD",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    ["HTTP/1.1 200 OK", "Content-Length: 2"],
  ],
  [
    "an interim answer",
    "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ["HTTP/1.1 200 OK"],
  ],
])("returns an answer with %s", async (_, bytes, lines) => {
  expect(await linesFor(bytes)).toEqual(lines);
});

test("reads a value as UTF-8 if it is valid, else as Latin-1", async () => {
  const utf8 = Buffer.from("HTTP/1.1 200 Bézier\r\nX-Utf-8: naïve €\r\nX-Latin-1: ");
  const bytes = Buffer.concat([utf8, Buffer.from("naïve", "latin1"), Buffer.from("\r\n\r\n")]);
  expect(await linesFor(bytes)).toEqual(["HTTP/1.1 200 Bézier", "X-Utf-8: naïve €", "X-Latin-1: naïve"]);
});

test.each([
  ["nothing", "", "socket hang up"],
  ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n", "Parse Error: Expected HTTP/, RTSP/ or ICE/"],
  [
    "too many headers",
    `HTTP/1.1 200 OK\r\n${`X-Long: ${"x".repeat(1_000)}\r\n`.repeat(100)}\r\n`,
    "Parse Error: Header overflow",
  ],
])("returns the reason if a website answers with %s", async (_, bytes, reason) => {
  expect(await linesFor(bytes)).toEqual([reason]);
});

test("returns the reason if a connection is refused, for each protocol", async () => {
  const refused = `connect ECONNREFUSED 127.0.0.1:${CLOSED_PORT}`;
  expect(await testWebsite(websiteOf({}), OPTIONS, NEVER)).toEqual([
    { protocol: "http", lines: [refused] },
    { protocol: "https", lines: [refused] },
  ]);
});

test("returns the reason for every address of a name", async () => {
  const [block] = await testWebsite(websiteOf({ protocol: "http", host: "localhost" }), OPTIONS, NEVER);
  expect(block?.lines).toEqual([
    expect.stringMatching(/^connect ECONNREFUSED \S+:1(, connect ECONNREFUSED \S+:1)*$/),
  ]);
});

test("returns the reason if the name is unknown", async () => {
  const [block] = await testWebsite(websiteOf({ protocol: "http", host: "no..where" }), OPTIONS, NEVER);
  expect(block?.lines).toEqual([expect.stringMatching(/^getaddrinfo \w+ no\.\.where$/)]);
});

test("verifies the certificate for the host, and sends the host name to the server", async () => {
  const names: unknown[] = [];
  const leaf = await AUTHORITY.issue({ hosts: ["localhost"] });
  const server = createHttpsServer(leaf, answerOk);
  server.on("secureConnection", ({ servername }) => names.push(servername));
  const httpsPort = await listen(server);
  const website = websiteOf({ protocol: "https", host: "localhost", httpsPort });
  expect(await testWebsite(website, OPTIONS, NEVER)).toEqual([
    { protocol: "https", lines: ["HTTP/1.1 200 OK", "X-Secure: yes", "Connection: close"] },
  ]);
  expect(names).toEqual(["localhost"]);
});

test("returns the reason if the certificate is invalid, unless verification is off", async () => {
  const stranger = await createAuthority("Stranger");
  const unknown = await listen(createHttpsServer(await stranger.issue(), answerOk));
  const misnamed = await listenSecure(["www.example.org"]);
  const expired = await listenSecure(undefined, new Date(Date.now() - 60_000));
  const reasons = [
    [unknown, UNTRUSTED],
    [
      misnamed,
      /^Hostname\/IP does not match certificate's altnames: IP: 127\.0\.0\.1 is not in the cert's list:$/,
    ],
    [expired, /^certificate has expired$/],
  ] as const;
  for (const [httpsPort, reason] of reasons) {
    const website = websiteOf({ protocol: "https", httpsPort });
    const refused = await testWebsite(website, OPTIONS, NEVER);
    expect(refused).toEqual([{ protocol: "https", lines: [expect.stringMatching(reason)] }]);
    const [block] = await testWebsite(website, { ...OPTIONS, insecureSkipVerify: true }, NEVER);
    expect(block?.lines[0]).toBe("HTTP/1.1 200 OK");
  }
});

test.each([
  ["stays silent", () => {}],
  ["drips its headers", drip],
  ["sends interim answers forever", dripInterim],
])("gives up on a website that %s, and drops the connection", async (_, talk) => {
  const closed: Promise<unknown>[] = [];
  const port = await listenRaw((socket) => {
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
    // What is written after the end may be answered with a reset.
    socket.on("error", () => socket.destroy()).resume();
    talk(socket);
  });
  const website = websiteOf({ httpPort: port, httpsPort: port });
  const blocks = await testWebsite(website, { ...OPTIONS, timeoutMs: 50 }, NEVER);
  expect(blocks[0]).toEqual({ protocol: "http", lines: ["no response within 0.05 s"] });
  await eventually(() => expect(closed).toHaveLength(2));
  await Promise.all(closed);
});

function drip(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nX-Drip: ");
  const timer = setInterval(() => socket.write("x"), 20);
  socket.once("close", () => clearInterval(timer));
}

function dripInterim(socket: Socket): void {
  const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 20);
  socket.once("close", () => clearInterval(timer));
}

test("tests both protocols in parallel, so that a silent one delays nothing", async () => {
  const secure = createHttpsServer(await AUTHORITY.issue(), answerOk);
  const secureRequest = once(secure, "request");
  const plain = createServer((request, response) => {
    void secureRequest.then(() => answerOk(request, response));
  });
  const [httpPort, httpsPort] = [await listen(plain), await listen(secure)];
  const blocks = await testWebsite(websiteOf({ httpPort, httpsPort }), OPTIONS, NEVER);
  expect(blocks.map(({ protocol, lines }) => `${protocol}: ${lines[0]}`)).toEqual([
    "http: HTTP/1.1 200 OK",
    "https: HTTP/1.1 200 OK",
  ]);
});

test("ends when its client has disconnected", async () => {
  const disconnected = new AbortController();
  const httpPort = await listenRaw(() => disconnected.abort());
  const [block] = await testWebsite(websiteOf({ protocol: "http", httpPort }), OPTIONS, disconnected.signal);
  expect(block?.lines).toEqual(["The operation was aborted"]);
});
