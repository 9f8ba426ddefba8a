import { VRRP_LIST, type LocalVrrpInterface } from "../api/vrrp.ts";
import { WEBSITE_DETAILS } from "../api/website-details.ts";
import { WEBSITE_LIST } from "../api/website-list.ts";
import { WEBSITE_TEST } from "../api/website-test.ts";
import { detailsOf } from "./website-details.ts";
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
  /** `false`: the list and the details of websites are 404. */
  readonly hasWebsiteList: boolean;
}

const WEBSITE_PATH = /^\/api\/v1\/website\/([^/]*)(\/test)?$/;
const INTEGER = /^[+-]?\d+$/;

/**
 * Answers an authenticated request: 404 for an unknown path or website, 405 for any method except GET, 400 for a website
 * id that is not an integer, 503 if the VRRP state is unknown. `target`: path and query; `signal`: the client has disconnected.
 *
 * @see management API 4
 */
export async function answerTo(
  { vrrp, websites, websiteTest, hasWebsiteList }: OperationDeps,
  method: string,
  target: string,
  signal: AbortSignal,
): Promise<Answer> {
  const [path = ""] = target.split("?", 1);
  const [, websiteId, isTest] = WEBSITE_PATH.exec(path) ?? [];
  const isVrrp = path === VRRP_LIST.path();
  const isKnown =
    isVrrp ||
    isTest !== undefined ||
    (hasWebsiteList && (websiteId !== undefined || path === WEBSITE_LIST.path()));
  if (!isKnown) return failure(404, "no such path");
  if (method !== "GET") return failure(405, "method not allowed", { allow: "GET" });
  if (isVrrp) {
    const state = await vrrp();
    return state.ok ? success(VRRP_LIST.encode(state.interfaces)) : failure(503, state.reason);
  }
  if (websiteId === undefined) return success(WEBSITE_LIST.encode(websites.map(({ id }) => id)));
  if (!INTEGER.test(websiteId)) return failure(400, "the website id is not an integer");
  const website = websites.find((each) => each.id === Number(websiteId));
  if (website === undefined) return failure(404, "no such website");
  return success(
    isTest === undefined
      ? WEBSITE_DETAILS.encode(await detailsOf(website))
      : WEBSITE_TEST.encode(await testWebsite(website, websiteTest, signal)),
  );
}
