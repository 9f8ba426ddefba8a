import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { PROTOCOLS } from "../exporter/api/website-test.ts";
import type { LocalBackend, LocalWebsiteDetails, WebsiteAnswer } from "./encode.ts";

/** A website in the appliance's configuration. `host` is a host name or an IP address, IPv6 without brackets. @see management API 2.3 */
export interface Website extends Omit<LocalWebsiteDetails, "port" | "secondPort" | "backends"> {
  readonly servers: readonly Omit<LocalBackend, "isOk">[];
  readonly httpPort: number;
  readonly httpsPort: number;
  /** The path starts with a slash. */
  readonly path: string;
}

export interface WebsiteTestOptions {
  /** The time from the name lookup to the end of the headers. */
  readonly timeoutMs: number;
  /** PEM of the authorities to trust instead of the well-known ones. */
  readonly ca: string | undefined;
  readonly insecureSkipVerify: boolean;
}

const MAX_HEADER_BYTES = 64 * 1024;
/** The default of Node.js gives up on each address of a dual-stack website after 250 ms. */
const ADDRESS_ATTEMPT_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_000;

/**
 * Sends one HEAD request for each of the website's protocols, in parallel. Returns the answers in the order http, https.
 * If there is no answer within the timeout, a line contains the reason. Does not follow redirects.
 *
 * @param signal aborts the test; the result is meaningless then
 * @throws never
 * @see management API 4.2
 */
export async function testWebsite(
  { protocol: protocols, host, httpPort, httpsPort, path }: Website,
  { timeoutMs, ca, insecureSkipVerify }: WebsiteTestOptions,
  signal: AbortSignal,
): Promise<readonly WebsiteAnswer[]> {
  const options = {
    method: "HEAD",
    host,
    path,
    signal,
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
  } as const;
  const tls = { ca, rejectUnauthorized: !insecureSkipVerify };
  return Promise.all(
    PROTOCOLS[protocols].map(async (protocol) => {
      const request =
        protocol === "http"
          ? httpRequest({ ...options, port: httpPort })
          : httpsRequest({ ...options, ...tls, port: httpsPort });
      return { protocol, lines: await linesOf(request, timeoutMs) };
    }),
  );
}

async function linesOf(request: ClientRequest, timeoutMs: number): Promise<readonly string[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  // Only the first error counts; destroying the request can report more.
  request.on("error", () => {}).end();
  try {
    const [response] = await once(request, "response", { signal: deadline });
    return headLines(response);
  } catch (error) {
    return [deadline.aborted ? `no response within ${timeoutMs / 1_000} s` : reasonOf(error)];
  } finally {
    request.destroy();
  }
}

function headLines(response: IncomingMessage): readonly string[] {
  const { httpVersion, statusCode, statusMessage = "", rawHeaders } = response;
  const lines = [`HTTP/${httpVersion} ${statusCode} ${readable(statusMessage)}`.trimEnd()];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index]}: ${readable(rawHeaders[index + 1] ?? "")}`.trimEnd());
  }
  return lines;
}

/** Node.js decodes headers as Latin-1; most websites that send other characters than ASCII use UTF-8. */
function readable(latin1: string): string {
  const bytes = Buffer.from(latin1, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : latin1;
}

function reasonOf(error: unknown): string {
  // An AggregateError contains one error for each address; its own message is empty.
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const messages = errors.map((each) => (each instanceof Error ? each.message.trim() : ""));
  return messages.join(", ") || "no response";
}

/**
 * Returns the details of a website. A server is OK if it accepts a TCP connection within a second. Without servers, the tested host is the
 * only one.
 */
export async function detailsOf({ servers, ...website }: Website): Promise<LocalWebsiteDetails> {
  const { protocol, host, httpPort, httpsPort } = website;
  const port = protocol === "http" ? httpPort : httpsPort;
  const behind = servers.length > 0 ? servers : [{ protocol, host, port, role: "active" } as const];
  const backends = await Promise.all(
    behind.map(async (server) => ({ ...server, isOk: await accepts(server.host, server.port) })),
  );
  return { ...website, port, secondPort: httpPort, backends };
}

async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
