import { DashboardLinkType, type DashboardLink } from "@grafana/grafana-foundation-sdk/dashboard";

/** Filled in by the dashboard's variables; the first has one section for each alert, whose name in small letters is its anchor. */
const RUNBOOK_URL = "${runbook_url}";
const STATUS_URL = "${status_url}";

/** A link that opens a new tab. */
export function link(title: string, url: string): DashboardLink {
  return {
    title,
    type: DashboardLinkType.Link,
    icon: "external link",
    tooltip: "",
    url,
    tags: [],
    asDropdown: false,
    targetBlank: true,
    includeVars: false,
    keepTime: false,
  };
}

export const STATUS_LINK = link("Status page", STATUS_URL);

/** To the section of an alert, or to the whole runbook. */
export function runbookLink(anchor?: string): DashboardLink {
  return link("Runbook", anchor === undefined ? RUNBOOK_URL : `${RUNBOOK_URL}#${anchor}`);
}
