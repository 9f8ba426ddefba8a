import { SITE, WEBSITES, type WebsiteName } from "../lab/fleet.ts";
import type { Lab } from "../lab/lab.ts";
import type { Labels } from "../lab/notifications.ts";
import type { Website } from "../lab/websites.ts";
import { OURS, type Case } from "./case.ts";

/** An alert about a website. */
export function websiteAlert(
  alertname: string,
  name: WebsiteName,
  labels: { readonly severity: string } & Labels = { severity: "critical", protocol: "http" },
): Labels {
  const found = WEBSITES.find((website) => website.name === name);
  return {
    alertname,
    ...OURS,
    site: SITE,
    ha_cluster: found?.cluster ?? "",
    website: name,
    website_id: String(found?.id),
    ...labels,
  };
}

interface Outage {
  readonly name: string;
  readonly website: WebsiteName;
  readonly protocol: string;
  readonly event: string;
  readonly begin: (website: Website, lab: Lab) => Promise<void>;
  readonly end: (website: Website, lab: Lab) => Promise<void>;
  /** What is true of it as well, and told to nobody, as the website is known to be down. */
  readonly alsoFiring: string;
}

const OUTAGES: readonly Outage[] = [
  {
    name: "a website that answers 503 wakes somebody, once",
    website: "error",
    protocol: "http",
    event: "website answers 503",
    begin: (website) => website.setMaintenance(true),
    end: (website) => website.setMaintenance(false),
    alsoFiring: "WebsiteServerError",
  },
  {
    name: "a website that refuses connections wakes somebody, once",
    website: "closed",
    protocol: "http",
    event: "website refuses connections",
    begin: (website) => website.stop(),
    end: (website) => website.start(),
    alsoFiring: "WebsiteNoHttpResponse",
  },
  {
    name: "a website that stays silent wakes somebody, once",
    website: "silent",
    protocol: "http",
    event: "website stays silent",
    begin: (website) => website.freeze(),
    end: (website) => website.thaw(),
    alsoFiring: "WebsiteNoHttpResponse",
  },
  {
    name: "a website with a wrong certificate wakes somebody, once, for HTTPS alone",
    website: "stranger",
    protocol: "https",
    event: "website has a wrong certificate",
    begin: async (website, { issue }) => website.setCertificate(await issue("other.example")),
    end: async (website, { issue }) => website.setCertificate(await issue("198.51.100.200")),
    alsoFiring: "WebsiteNoHttpResponse",
  },
];

function outageCase({ name, website, protocol, event, begin, end, alsoFiring }: Outage): Case {
  return {
    name,
    owns: (labels) => labels["website"] === website,
    play: async ({ happens, isFiring }, lab) => {
      const down = websiteAlert("WebsiteDown", website, { severity: "critical", protocol });
      const outage = await happens(event, () => begin(lab.website(website), lab));
      await outage.tells(down);
      await isFiring(alsoFiring, "web");
      const mended = await happens(`${event} no more`, () => end(lab.website(website), lab));
      await mended.resolves(down);
      await mended.tells(
        websiteAlert("WebsiteStatusChanged", website, { severity: "info", protocol, status: "200" }),
      );
    },
  };
}

export const WEBSITE_CASES: readonly Case[] = OUTAGES.map((outage) => outageCase(outage));
