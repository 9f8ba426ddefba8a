import { SITE, WEBSITES, type WebsiteName } from "../lab/fleet.ts";
import type { Lab } from "../lab/lab.ts";
import type { Labels } from "../lab/notifications.ts";
import type { Website } from "../lab/websites.ts";
import { OURS, ownsCluster, type Case } from "./case.ts";

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
  /** Default: WebsiteDown, critical. */
  readonly alert?: { readonly alertname: string; readonly severity: string };
  readonly begin: (website: Website, lab: Lab) => Promise<void>;
  readonly end: (website: Website, lab: Lab) => Promise<void>;
}

const OUTAGES: readonly Outage[] = [
  {
    name: "a website that answers 503 is one page",
    website: "error",
    event: "website answers 503",
    begin: (website) => website.setMaintenance(true),
    end: (website) => website.setMaintenance(false),
  },
  {
    name: "a website that refuses connections is one page",
    website: "closed",
    event: "website refuses connections",
    begin: (website) => website.stop(),
    end: (website) => website.start(),
  },
  {
    name: "a website that stays silent is one page",
    website: "silent",
    event: "website stays silent",
    begin: (website) => website.freeze(),
    end: (website) => website.thaw(),
  },
  {
    name: "a website with a wrong certificate is one page",
    website: "stranger",
    event: "website has a wrong certificate",
    begin: async (website, { issue }) => website.setCertificate(await issue("other.example")),
    end: async (website, { issue }) => website.setCertificate(await issue("198.51.100.200")),
  },
  {
    name: "a website that is down at the master only is one page",
    website: "at-master",
    event: "website is down at the master only",
    begin: (website, lab) => website.setMaintenance(true, lab.cluster("web").preferred.fleetAddress),
    end: (website, lab) => website.setMaintenance(false, lab.cluster("web").preferred.fleetAddress),
  },
  {
    name: "a website that is down at the backup only is one ticket",
    website: "at-backup",
    event: "website is down at the backup only",
    alert: { alertname: "WebsitePartiallyDown", severity: "warning" },
    begin: (website, lab) => website.setMaintenance(true, lab.cluster("web").other.fleetAddress),
    end: (website, lab) => website.setMaintenance(false, lab.cluster("web").other.fleetAddress),
  },
];

function outageCase({ name, website, event, alert, begin, end }: Outage): Case {
  return {
    name,
    owns: (labels) => labels["website"] === website,
    play: async ({ happens }, lab) => {
      const { alertname, severity } = alert ?? { alertname: "WebsiteDown", severity: "critical" };
      const down = websiteAlert(alertname, website, { severity });
      const outage = await happens(event, () => begin(lab.website(website), lab));
      await outage.fires(down);
      const ended = await happens(`${event} no more`, () => end(lab.website(website), lab));
      await ended.resolves(down);
    },
  };
}

const commonCause: Case = {
  name: "all websites of a cluster that are down are one page",
  owns: ownsCluster("common"),
  play: async ({ happens }, lab) => {
    const websites = WEBSITES.filter(({ cluster }) => cluster === "common").map(({ name }) =>
      lab.website(name),
    );
    const down = {
      alertname: "WebsitesDown",
      ...OURS,
      severity: "critical",
      site: SITE,
      ha_cluster: "common",
    };
    const outage = await happens("all websites of a cluster are stopped", () =>
      Promise.all(websites.map(({ stop }) => stop())),
    );
    await outage.fires(down);
    const end = await happens("all websites of a cluster are started", () =>
      Promise.all(websites.map(({ start }) => start())),
    );
    await end.resolves(down);
  },
};

export const WEBSITE_CASES: readonly Case[] = [...OUTAGES.map((outage) => outageCase(outage)), commonCause];
