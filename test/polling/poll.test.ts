import { expect, test } from "vitest";
import type { WebsiteConfig } from "../../src/config/config.ts";
import type { ApplianceClient } from "../../src/client/client.ts";
import { poll } from "../../src/polling/poll.ts";
import { exportedStatuses } from "../../src/api/website-test.ts";
import { bodyOf } from "./poller-support.ts";

/** A client that answers every request like this. */
function answering(get: ApplianceClient["get"]): Pick<ApplianceClient, "get"> {
  return { get };
}
test("a poll requests its operation's path with its timeout and its limit", async () => {
  const requested: unknown[] = [];
  const client = answering((...request) => {
    requested.push(request);
    return Promise.resolve({ ok: true, value: bodyOf("{}") });
  });
  await poll(client, { kind: "vrrp" }, 4_000);
  await poll(client, { kind: "website_test", websiteId: 12 }, 20_000);
  expect(requested).toEqual([
    ["/api/v1/interface/virtual", 4_000, { precedence: "list", bodyLimitBytes: 256 * 1024 }],
    ["/api/v1/website/12/test", 20_000, { precedence: "test", bodyLimitBytes: 64 * 1024 }],
  ]);
});

test("a bug makes the poll fail as internal and is not thrown", async () => {
  const broken = [
    answering(() => Promise.reject(new TypeError("x is not a function"))),
    answering(() => {
      throw new TypeError("x is not a function");
    }),
  ];
  for (const client of broken) {
    const { outcome } = await poll(client, { kind: "website_test", websiteId: 1 }, 1);
    expect(outcome).toMatchObject({ ok: false, failure: { reason: "internal" } });
    expect(outcome.ok ? "" : outcome.failure.message).toContain("TypeError: x is not a function");
  }
});

const UNKNOWN = "the appliance has no website with this id: canned";

test.each([
  [{ kind: "vrrp" }, 404, { reason: "http_status", isGone: true }],
  [{ kind: "website_list" }, 404, { reason: "unsupported" }],
  [{ kind: "website_list" }, 501, { reason: "unsupported" }],
  [{ kind: "website_details", websiteId: 1 }, 404, { reason: "http_status", isGone: true, message: UNKNOWN }],
  [{ kind: "website_details", websiteId: 1 }, 501, { reason: "http_status" }],
  [{ kind: "website_test", websiteId: 1 }, 404, { reason: "http_status", isGone: true, message: UNKNOWN }],
] as const)("%j with status %i fails as %j", async (operation, status, expected) => {
  const failure = { reason: "http_status", message: "canned", status } as const;
  const client = answering(() => Promise.resolve({ ok: false, failure }));
  const { outcome } = await poll(client, operation, 1);
  expect(outcome).toEqual({ ok: false, failure: { ...failure, ...expected } });
});

const HTTP = { protocol: "http", status: 301 } as const;
const HTTPS = { protocol: "https", status: 200 } as const;
const OUT_OF_RANGE = { protocol: "https", status: undefined, text: "unreadable" } as const;
type Blocks = Parameters<typeof exportedStatuses>[0]["blocks"];

test.each<readonly [name: string, Blocks, WebsiteConfig["protocols"], statuses: readonly string[]]>([
  ["those found, without configured protocols", [HTTP, HTTPS], undefined, ["http 301", "https 200"]],
  ["no other, without configured protocols", [HTTPS], undefined, ["https 200"]],
  ["a configured protocol without a block, as 0", [HTTP], ["http", "https"], ["http 301", "https 0"]],
  ["no protocol that is not configured", [HTTP, HTTPS], ["https"], ["https 200"]],
  ["only what is configured, even if the answer has the other alone", [HTTPS], ["http"], ["http 0"]],
  ["no status that is out of range", [HTTP, OUT_OF_RANGE], ["http", "https"], ["http 301"]],
])("exported are %s", (_, blocks, protocols, statuses) => {
  const exported = exportedStatuses({ blocks }, protocols);
  expect(exported.map(({ protocol, status }) => `${protocol} ${status}`)).toEqual(statuses);
});
