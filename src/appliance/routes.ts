import type { LocalVrrpInterface } from "../api/vrrp-list.ts";
import { VRRP_LIST } from "../api/vrrp.ts";
import { WEBSITE_TEST } from "../api/website-test.ts";
import { testWebsite, type Website, type WebsiteTestOptions } from "./website-head.ts";

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** `body` is JSON. */
function success(body: string): Answer {
  return { status: 200, headers: {}, body };
}

/** An answer with the body `{"error": "..."}`. */
export function failure(status: number, error: string, headers: Answer["headers"] = {}): Answer {
  return { status, headers, body: JSON.stringify({ error }) };
}

/** The current VRRP interfaces of this machine, or a readable reason why they are unknown. */
export type VrrpState =
  | { readonly ok: true; readonly interfaces: readonly LocalVrrpInterface[] }
  | { readonly ok: false; readonly reason: string };

/** Returns a state that is not older than the call. */
export type VrrpSource = () => Promise<VrrpState>;

export interface OperationDeps {
  readonly vrrp: VrrpSource;
  readonly websites: readonly Website[];
  readonly websiteTest: WebsiteTestOptions;
}

export interface ApiRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly target: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

const WEBSITE_TEST_PATH = /^\/api\/v1\/website\/([^/]*)\/test$/;
const INTEGER = /^[+-]?\d+$/;

/**
 * Answers an authenticated request: 404 for an unknown path or website, 405 for any method except GET, 400 for a website
 * id that is not an integer, 503 if the VRRP state is unknown.
 *
 * @see management API 4
 */
export async function answerTo({ method, target, signal }: ApiRequest, deps: OperationDeps): Promise<Answer> {
  const [path = ""] = target.split("?", 1);
  const websiteId = WEBSITE_TEST_PATH.exec(path)?.[1];
  if (path !== VRRP_LIST.path() && websiteId === undefined) return failure(404, "no such path");
  if (method !== "GET") return failure(405, "method not allowed", { allow: "GET" });
  return websiteId === undefined ? answerVrrp(deps) : answerWebsiteTest(websiteId, deps, signal);
}

async function answerVrrp({ vrrp }: OperationDeps): Promise<Answer> {
  const state = await vrrp();
  return state.ok ? success(VRRP_LIST.encode(state.interfaces)) : failure(503, state.reason);
}

async function answerWebsiteTest(id: string, deps: OperationDeps, signal: AbortSignal): Promise<Answer> {
  if (!INTEGER.test(id)) return failure(400, "the website id is not an integer");
  const website = deps.websites.find((each) => each.id === Number(id));
  if (website === undefined) return failure(404, "no such website");
  return success(WEBSITE_TEST.encode(await testWebsite(website, deps.websiteTest, signal)));
}
