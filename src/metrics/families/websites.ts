import type { StatusSnapshot } from "../../fleet/snapshot.ts";
import { asBit, type Family } from "../family.ts";

const SOURCE =
  "From the latest website test by the appliance, not from the scrape; absent unless that poll succeeded.";

/** The websites as seen from the appliances. @see management API 4.2 */
export const WEBSITE_FAMILIES: readonly Family[] = [
  family(
    "website_http_status",
    "gauge",
    "Status code of the website's response to HEAD; 0 if the appliance got no HTTP response.",
    ({ status }) => status,
  ),
  family("website_up", "gauge", "Whether the website's status is among those expected.", ({ isUp }) =>
    asBit(isUp),
  ),
  family(
    "website_status_changes_total",
    "counter",
    "Changes of the website's status against the last successful poll, since it was first seen.",
    ({ changes }) => changes,
  ),
];

function family(
  name: string,
  type: Family["type"],
  help: string,
  value: (status: StatusSnapshot) => number,
): Family {
  return {
    name,
    type,
    help: `${help} ${SOURCE}`,
    samples: {
      website_statuses: ({ websiteId, website, statuses }) =>
        statuses.map((status) => ({
          labels: [
            ["website_id", String(websiteId)],
            ["website", website],
            ["protocol", status.protocol],
          ],
          value: value(status),
        })),
    },
  };
}
