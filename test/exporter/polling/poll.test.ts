import { expect, test } from "vitest";
import type { WebsiteConfig } from "../../../src/exporter/config/config.ts";
import type { ApplianceClient } from "../../../src/exporter/client/client.ts";
import { poll } from "../../../src/exporter/polling/poll.ts";
import { exportedStatuses } from "../../../src/exporter/api/website-test.ts";
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
  await poll(client, "management_api", { kind: "vrrp" }, 4_000);
  await poll(client, "management_api", { kind: "website_test", websiteId: 12 }, 20_000);
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
    const { outcome } = await poll(client, "management_api", { kind: "website_test", websiteId: 1 }, 1);
    expect(outcome).toMatchObject({ ok: false, failure: { reason: "internal" } });
    expect(outcome.ok ? "" : outcome.failure.message).toContain("TypeError: x is not a function");
  }
});

/** A list of one interface, received from this address. */
function listFrom(peerAddress: string | undefined, given: Readonly<Record<string, unknown>>) {
  const carp1 = { vhid: "3", vip: "192.0.2.101", state_current: "BACKUP" };
  const carp0 = { vhid: "2", vip: "192.0.2.100", state_current: "MASTER", alias: [], ...given };
  return answering(() =>
    Promise.resolve({ ok: true, value: { ...bodyOf(JSON.stringify({ carp1, carp0 })), peerAddress } }),
  );
}

const SIX = { vip: "2001:db8::100" };

test.each([
  ["its VIP", "192.0.2.100", {}],
  ["its VIP as BACKUP, while the VIP moves", "192.0.2.100", { state_current: "BACKUP" }],
  ["an alias", "192.0.2.7", { alias: ["192.0.2.6", "192.0.2.7"] }],
  ["its VIP with spaces", "192.0.2.100", { vip: " 192.0.2.100 " }],
  ["its VIP as an IPv4-mapped address", "192.0.2.100", { vip: "::ffff:192.0.2.100" }],
  ["its VIP in another spelling", "2001:db8::100", { vip: "2001:DB8:0::100" }],
  ["its VIP in brackets", "2001:db8::100", { vip: "[2001:db8::100]" }],
  ["its VIP with a zone", "fe80::1", { vip: "fe80::1%em0" }],
  ["its VIP with a prefix", "192.0.2.100", { vip: "192.0.2.100/24" }],
  ["an alias with a netmask", "192.0.2.7", { alias: ["192.0.2.7/255.255.255.0"] }],
  ["an alias in another spelling", "2001:db8::7", { ...SIX, alias: ["2001:db8:0:0::7"] }],
])("a list that comes from %s is not that of the member", async (_, peerAddress, given) => {
  const client = listFrom(peerAddress, given);
  expect(await poll(client, "management_api", { kind: "vrrp" }, 1, { isAlone: false })).toEqual({
    kind: "vrrp",
    outcome: {
      ok: false,
      failure: {
        reason: "vip",
        message: `the answer comes from ${peerAddress}, which is a VIP or alias in it (carp0): use the appliance's own address in base_url`,
      },
    },
  });
  // Nobody else could take over the address of an appliance that stands alone.
  expect((await poll(client, "management_api", { kind: "vrrp" }, 1, { isAlone: true })).outcome.ok).toBe(
    true,
  );
});

test.each([
  ["another address", "192.0.2.11", {}],
  ["an address that begins like its VIP", "192.0.2.10", {}],
  ["an address that is not known", undefined, {}],
  ["another IPv6 address", "2001:db8::11", SIX],
  ["another address, with unreadable aliases", "192.0.2.11", { alias: 7 }],
  ["another address, with a VIP that is no address", "192.0.2.11", { vip: "vip:ams" }],
])("a list that comes from %s is that of the member", async (_, peerAddress, given) => {
  const { outcome } = await poll(listFrom(peerAddress, given), "management_api", { kind: "vrrp" }, 1, {
    isAlone: false,
  });
  expect(outcome.ok).toBe(true);
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
  const { outcome } = await poll(client, "management_api", operation, 1);
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
