import type { Website } from "../appliance/website-head.ts";
import type { Demo } from "./demo.ts";
import { BEGINNING } from "./scenario.ts";

/** The introduction: what runs, where to look, what to try. */
export function welcome({ appliances, websites, addresses }: Demo, stepIntervalMs: number): string {
  const urls = addresses.map(urlOf);
  return `Two appliances in one cluster and three websites are running on this machine, for real:

${appliances.map(({ name, baseUrl }) => line(name, `${baseUrl}/`, name === BEGINNING.master ? "master" : "backup")).join("")}\
${websites.map((website) => line(website.name, ...urlsOf(website))).join("")}
The exporter polls them every second or two, over HTTPS. Open:

${urls.flatMap((url) => [line(url), line(`${url}metrics`)]).join("")}
To try in another terminal:

  curl -s ${urls[0]}metrics | grep -E '^(vrrp_is_master|website_up)'

Every ${stepIntervalMs / 1000} s something happens (==>); the exporter's log shows how it is detected. Press Ctrl-C to stop.
`;
}

function line(name: string, ...facts: readonly string[]): string {
  return `  ${[name.padEnd(6), ...facts].join("  ")}\n`;
}

function urlsOf({ protocol, host, httpPort, httpsPort }: Website): readonly string[] {
  const urls = { http: [`http://${host}:${httpPort}/`], https: [`https://${host}:${httpsPort}/`] };
  return protocol === "both" ? [...urls.http, ...urls.https] : urls[protocol];
}

/** The URL of a listener from this machine; localhost if it listens on all addresses. */
function urlOf(address: string): string {
  return `http://${address.replace(/^(0\.0\.0\.0|\[::\]):/, "localhost:")}/`;
}
