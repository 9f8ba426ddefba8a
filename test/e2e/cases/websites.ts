import { SITE, WEBSITES, type WebsiteName } from "../lab/fleet.ts";
import type { Lab } from "../lab/lab.ts";
import type { Labels } from "../lab/notifications.ts";
import type { Website } from "../lab/websites.ts";
import { OURS, type Case } from "./case.ts";

/** An alert about a website. */
export function websiteAlert(alertname: string, name: WebsiteName, labels: Labels = {}): Labels {
  const found = WEBSITES.find((website) => website.name === name);
  return {
    alertname,
    ...OURS,
    severity: "critical",
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
  readonly event: string;
  readonly begin: (website: Website, lab: Lab) => Promise<void>;
  readonly end: (website: Website, lab: Lab) => Promise<void>;
}

const OUTAGES: readonly Outage[] = [
  {
    name: "a website that answers 503 wakes somebody, once",
    website: "error",
    event: "website answers 503",
    begin: (website) => website.setMaintenance(true),
    end: (website) => website.setMaintenance(false),
  },
  {
    name: "a website that refuses connections wakes somebody, once",
    website: "closed",
    event: "website refuses connections",
    begin: (website) => website.stop(),
    end: (website) => website.start(),
  },
  {
    name: "a website that stays silent wakes somebody, once",
    website: "silent",
    event: "website stays silent",
    begin: (website) => website.freeze(),
    end: (website) => website.thaw(),
  },
  {
    name: "a website with a wrong certificate wakes somebody, once",
    website: "stranger",
    event: "website has a wrong certificate",
    begin: async (website, { issue }) => website.setCertificate(await issue("other.example")),
    end: async (website, { issue }) => website.setCertificate(await issue("198.51.100.200")),
  },
];

function outageCase({ name, website, event, begin, end }: Outage): Case {
  return {
    name,
    owns: (labels) => labels["website"] === website,
    play: async ({ happens }, lab) => {
      const down = websiteAlert("WebsiteDown", website);
      const outage = await happens(event, () => begin(lab.website(website), lab));
      await outage.tells(down);
      const ended = await happens(`${event} no more`, () => end(lab.website(website), lab));
      await ended.resolves(down);
    },
  };
}

export const WEBSITE_CASES: readonly Case[] = OUTAGES.map((outage) => outageCase(outage));
