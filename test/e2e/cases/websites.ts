import { SITE, WEBSITES, type WebsiteName } from "../lab/fleet.ts";
import type { Labels } from "../lab/notifications.ts";
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
    address: `#${found?.id}`,
    ...labels,
  };
}

const closed: Case = {
  name: "a website that refuses connections is one page",
  owns: ({ website }) => website === "closed",
  play: async ({ happens }, lab) => {
    const { stop, start } = lab.website("closed");
    const down = websiteAlert("WebsiteDown", "closed");
    const outage = await happens("website refuses connections", stop);
    await outage.fires(down);
    const ended = await happens("website refuses connections no more", start);
    await ended.resolves(down);
  },
};

/** The website answers 503 to one member of the cluster. */
function partialOutage(
  member: "preferred" | "other",
  website: WebsiteName,
  down: Labels,
  words: string,
  owns: Case["owns"] = (labels) => labels["website"] === website,
): Case {
  return {
    name: `a website that is down at the ${words}`,
    owns,
    play: async ({ happens }, lab) => {
      const { fleetAddress } = lab.cluster("web")[member];
      const { setMaintenance } = lab.website(website);
      const outage = await happens(`website is down at the ${words}`, () =>
        setMaintenance(true, fleetAddress),
      );
      await outage.fires(down);
      const ended = await happens(`website is down at the ${words} no more`, () =>
        setMaintenance(false, fleetAddress),
      );
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

export const WEBSITE_CASES: readonly Case[] = [
  closed,
  partialOutage("preferred", "at-master", websiteAlert("WebsiteDown", "at-master"), "master only"),
  partialOutage(
    "other",
    "at-backup",
    {
      alertname: "FailoverNotReady",
      ...OURS,
      severity: "warning",
      site: SITE,
      ha_cluster: "web",
      appliance: "web-a",
    },
    "backup only",
    ({ alertname, website }) => alertname === "FailoverNotReady" || website === "at-backup",
  ),
  commonCause,
];
