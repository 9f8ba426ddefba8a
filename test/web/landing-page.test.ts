import { expect, test } from "vitest";

import { landingPage } from "../../src/web/landing-page.ts";
import {
  applianceOf,
  interfaceOf,
  listOf,
  vrrpFailed,
  vrrpSeen,
  websiteOf,
  websiteSeen,
} from "../support/observations.ts";
import { fleetOf } from "../fleet/support.ts";

const SCRIPT = `<script>alert("1" + '&')</script>`;
const ESCAPED = "&#60;script&#62;alert(&#34;1&#34; + &#39;&#38;&#39;)&#60;/script&#62;";

function pageOf(fleet: ReturnType<typeof fleetOf>, telemetryPath = "/metrics"): string {
  return String(landingPage(fleet.snapshot(0), { telemetryPath, version: "1.2.3" }).body);
}
/** The cells of the appliances' rows, as they stand in the markup. */
function rowsOf(page: string): readonly (readonly string[])[] {
  const body = page.slice(page.indexOf("<tbody>"));
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => cell),
  );
}

test("each appliance is shown with its state, its interfaces and its websites", () => {
  const appliances = [
    applianceOf({
      name: "waf-1",
      cluster: "ams",
      websites: [websiteOf({ id: 1, name: "shop" }), websiteOf({ id: 2 })],
    }),
    applianceOf({ name: "waf-2", cluster: "ams" }),
    applianceOf({ name: "new" }),
  ];
  const fleet = fleetOf(appliances, [
    vrrpSeen("waf-1", listOf([interfaceOf()])),
    websiteSeen("waf-1", 1, [
      { protocol: "http", status: 301 },
      { protocol: "https", status: 0 },
    ]),
    vrrpFailed("waf-2", "tls"),
  ]);
  expect(rowsOf(pageOf(fleet))).toEqual([
    ["waf-1", "ams", "up", "carp0 (192.0.2.100): MASTER", "shop: http 301, https 0; 2: not tested yet"],
    ["waf-2", "ams", "down: tls", "unknown", ""],
    ["new", "new", "not polled yet", "unknown", ""],
  ]);
});

test("markup in whatever name, address or state is shown as text and does nothing", () => {
  const appliance = applianceOf({
    name: SCRIPT,
    cluster: SCRIPT,
    websites: [websiteOf({ id: 1, name: SCRIPT })],
  });
  const list = listOf([interfaceOf({ name: SCRIPT, vip: SCRIPT, state: SCRIPT })]);
  const page = pageOf(fleetOf([appliance], [vrrpSeen(SCRIPT, list)]), `/"><script>`);
  expect(page).not.toContain("<script");
  expect(rowsOf(page)).toEqual([
    [ESCAPED, ESCAPED, "up", `${ESCAPED} (${ESCAPED}): ${ESCAPED}`, `${ESCAPED}: not tested yet`],
  ]);
});

test("the page allows no script and no other content, and is not kept", () => {
  const { status, contentType, headers } = landingPage(fleetOf([]).snapshot(0), {
    telemetryPath: "/metrics",
    version: "1.2.3",
  });
  expect({ status, contentType, headers }).toEqual({
    status: 200,
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": "default-src 'none'", "cache-control": "no-store" },
  });
});

test("the page links to the metrics where they are, and tells the version", () => {
  const page = pageOf(fleetOf([]), "/internal/metrics");
  expect(page).toContain('<a href="/internal/metrics">');
  expect(page).toContain("Version 1.2.3.");
});
