import type {
  ApplianceSnapshot,
  FleetSnapshot,
  PollHealth,
  VrrpListSnapshot,
  WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { html, join, type Html } from "./html.ts";
import type { Reply } from "./reply.ts";

export interface LandingPageFacts {
  readonly telemetryPath: string;
  readonly version: string;
}

/** What the exporter serves, and how each appliance is; plain HTML without a script. */
export function landingPage(snapshot: FleetSnapshot, { telemetryPath, version }: LandingPageFacts): Reply {
  const rows = snapshot.appliances.map(row);
  const page = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <title>appliance-exporter</title>
      <h1>appliance-exporter</h1>
      <p>
        Version ${version}. <a href="${telemetryPath}">Metrics</a>, <a href="/-/healthy">health</a>,
        <a href="/-/ready">readiness</a>.
      </p>
      <table>
        <caption>
          Appliances
        </caption>
        <thead>
          <tr>
            <th scope="col">Appliance</th>
            <th scope="col">Cluster</th>
            <th scope="col">State</th>
            <th scope="col">VRRP</th>
            <th scope="col">Websites</th>
          </tr>
        </thead>
        <tbody>
          ${join(rows)}
        </tbody>
      </table>
    </html> `;
  return {
    status: 200,
    contentType: "text/html; charset=utf-8",
    body: page.text,
    headers: { "content-security-policy": "default-src 'none'", "cache-control": "no-store" },
  };
}

function row({ identity, vrrp, websites }: ApplianceSnapshot): Html {
  return html`<tr>
    <th scope="row">${identity.appliance}</th>
    <td>${identity.cluster}</td>
    <td>${stateText(vrrp.health)}</td>
    <td>${vrrpText(vrrp.list)}</td>
    <td>${websites.map(websiteText).join("; ")}</td>
  </tr> `;
}

function stateText({ state, failure }: PollHealth): string {
  if (state === "never_polled") return "not polled yet";
  return failure === undefined ? "up" : `down: ${failure.reason}`;
}

function vrrpText(list: VrrpListSnapshot | undefined): string {
  if (list === undefined) return "unknown";
  return list.interfaces.map(({ name, vip, state }) => `${name} (${vip}): ${state}`).join("; ");
}

function websiteText({ website, health, statuses }: WebsiteSnapshot): string {
  if (statuses === undefined) return `${website}: ${health.failure?.reason ?? "not tested yet"}`;
  return `${website}: ${statuses.map(({ protocol, status }) => `${protocol} ${status}`).join(", ")}`;
}
