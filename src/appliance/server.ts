import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { kindNamed } from "../exporter/api/kinds.ts";
import type { Secret } from "../support/secret.ts";
import { type ListenAddress, closeAtOnce, listen } from "../exporter/web/listen.ts";
import { send, type Reply } from "../exporter/web/reply.ts";
import { encodeWebsiteDetails, encodeWebsiteList, encodeWebsiteTest } from "./encode.ts";
import type { Replay } from "./replay.ts";
import { VRRP_ENCODERS, type LocalVrrp, type ServedKind } from "./vrrp-encoders.ts";
import { detailsOf, testWebsite, type Website, type WebsiteTestOptions } from "./websites.ts";

export interface ApplianceServerDeps {
  readonly listen: ListenAddress;
  /** The certificate and its key as PEM texts. */
  readonly tls: { readonly cert: string; readonly key: Secret };
  /** The users, whose names are without a colon. */
  readonly users: readonly { readonly username: string; readonly password: Secret }[];
  /** The kind of appliance that it is; default: that of the management API. */
  readonly kind?: ServedKind;
  readonly vrrp: VrrpSource;
  readonly websites: readonly Website[];
  readonly websiteTest: WebsiteTestOptions;
  /** If this is `false`, the list and the details of websites are 404. */
  readonly hasWebsiteList: boolean;
  /** The replies that take precedence. */
  readonly replay?: Replay | undefined;
  /** Reports a bug in answering a request; the client gets a 500. */
  readonly onBug: (error: unknown) => void;
}

/** Returns a state that is not older than the call. */
export type VrrpSource = () => Promise<VrrpState>;

/** The current VRRP interfaces of this machine, or a readable reason why they are unknown. */
export type VrrpState = ({ readonly ok: true } & LocalVrrp) | { readonly ok: false; readonly reason: string };

/** This is longer than the intervals of most polls, so that connections are kept between them. */
const KEEP_ALIVE_MS = 65_000;

const UNAUTHORIZED = failure(401, "credentials are missing or wrong", {
  "www-authenticate": 'Basic realm="management API", charset="UTF-8"',
});

/**
 * Creates a server for HTTPS with Basic authentication. Throws if certificate and key do not match. `start` returns the address, where port
 * 0 has become a free port, and rejects if it cannot listen; `stop` resolves when the last connection is closed. @see management API 4, 5
 */
export function createApplianceServer(deps: ApplianceServerDeps) {
  const isAllowed = createBasicAuth(deps.users);
  async function answer(request: IncomingMessage, signal: AbortSignal): Promise<Reply | undefined> {
    if (!isAllowed(request.headers.authorization)) return UNAUTHORIZED;
    try {
      return await answerTo(deps, request, signal);
    } catch (error) {
      deps.onBug(error);
      return failure(500, "internal error");
    }
  }
  const tls = { cert: deps.tls.cert, key: deps.tls.key.reveal() };
  const server = createServer({ ...tls, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const disconnected = new AbortController();
    response.once("close", () => disconnected.abort());
    void answer(request, disconnected.signal).then((made) =>
      made === undefined ? response.destroy() : send(request, response, made),
    );
  });
  return { start: () => listen(server, deps.listen), stop: () => closeAtOnce(server) };
}

const BASIC = /^basic +([a-z0-9+/]+=*) *$/i;

/** Returns a check of `Authorization` headers. It takes the same time for an unknown user and a wrong password. */
function createBasicAuth(
  users: ApplianceServerDeps["users"],
): (authorization: string | undefined) => boolean {
  const key = randomBytes(32);
  const digestOf = (credentials: string | Buffer) => createHmac("sha256", key).update(credentials).digest();
  const known = users.map(({ username, password }) => digestOf(`${username}:${password.reveal()}`));
  return (authorization) => {
    const encoded = BASIC.exec(authorization ?? "")?.[1];
    if (encoded === undefined) return false;
    const given = digestOf(Buffer.from(encoded, "base64"));
    // Compares all users, so that the time does not reveal which one matched.
    return known.filter((digest) => timingSafeEqual(digest, given)).length > 0;
  };
}

function json(status: number, body: string, headers: Reply["headers"] = {}): Reply {
  return {
    status,
    contentType: "application/json",
    body,
    headers: { "cache-control": "no-store", ...headers },
  };
}

function failure(status: number, error: string, headers: Reply["headers"] = {}): Reply {
  return json(status, JSON.stringify({ error }), headers);
}

const WEBSITE_PATH = /^\/api\/v1\/website\/([^/]*)(\/test)?$/;
const INTEGER = /^[+-]?\d+$/;

/**
 * Answers an authenticated request: 404 for an unknown path or website, 405 for any method except GET, 400 for a website id that is not an
 * integer, 503 if the VRRP state is unknown; `undefined` closes the connection. `signal` is aborted when the client disconnects.
 *
 * @see management API 4
 */
async function answerTo(
  { kind = "management_api", vrrp, websites, websiteTest, hasWebsiteList, replay }: ApplianceServerDeps,
  { method, url = "" }: IncomingMessage,
  signal: AbortSignal,
): Promise<Reply | undefined> {
  const [path = ""] = url.split("?", 1);
  if (replay?.has(path) === true) return replay.get(path);
  const [, websiteId, isTest] = WEBSITE_PATH.exec(path) ?? [];
  const { operations } = kindNamed(kind);
  const isVrrp = path === operations.vrrp.path();
  const isDiscovery = websiteId !== undefined || path === operations.website_list?.path();
  const isKnown = isVrrp || isTest !== undefined || (hasWebsiteList && isDiscovery);
  if (!isKnown) return failure(404, "no such path");
  if (method !== "GET") return failure(405, "method not allowed", { allow: "GET" });
  if (isVrrp) {
    const state = await vrrp();
    return state.ok ? json(200, VRRP_ENCODERS[kind](state)) : failure(503, state.reason);
  }
  if (websiteId === undefined) return json(200, encodeWebsiteList(websites.map(({ id }) => id)));
  if (!INTEGER.test(websiteId)) return failure(400, "the website id is not an integer");
  const website = websites.find((each) => each.id === Number(websiteId));
  if (website === undefined) return failure(404, "no such website");
  return json(
    200,
    isTest === undefined
      ? encodeWebsiteDetails(await detailsOf(website))
      : encodeWebsiteTest(await testWebsite(website, websiteTest, signal)),
  );
}
