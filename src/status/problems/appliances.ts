import type { ApplianceDocument, ClusterDocument, GroupDocument, Problem } from "../schema.ts";
import { reasonInWords } from "../words.ts";

const CERTIFICATE_NOTICE_MS = 14 * 24 * 3_600_000;

/** What is wrong with a cluster's appliances and with what they answer. */
export function applianceProblems(cluster: ClusterDocument, nowMs: number): readonly Problem[] {
  const isDark = cluster.appliances.every(({ poll }) => poll.state === "failed");
  const masters = new Set(cluster.groups.flatMap(possibleMasters));
  return cluster.appliances.flatMap((appliance) =>
    [
      unseen(appliance, isDark || masters.has(appliance.name)),
      ending(appliance, nowMs),
      deviating(appliance),
    ].flatMap((found) =>
      found === undefined ? [] : [{ ...found, cluster: cluster.name, appliance: appliance.name }],
    ),
  );
}

/** Those whose silence is the reason that nobody is known to be MASTER. */
function possibleMasters({ state, members }: GroupDocument): readonly string[] {
  if (state !== "unknown") return [];
  return members.filter(({ role }) => role === "unknown").map(({ appliance }) => appliance);
}

/** Critical where no appliance of the cluster can be seen any more, or this one may be the MASTER that is missed. */
function unseen({ name, poll }: ApplianceDocument, isCritical: boolean): Problem | undefined {
  if (poll.reason === undefined) return undefined;
  return {
    kind: "appliance_down",
    severity: isCritical ? "critical" : "warning",
    summary: `${name} cannot be seen: ${reasonInWords(poll.reason)}`,
    since: poll.failingSince ?? poll.lastSuccessAt,
    isSinceAtLeast: poll.lastSuccessAt === undefined ? true : undefined,
  };
}

function ending({ name, certificateNotAfter }: ApplianceDocument, nowMs: number): Problem | undefined {
  if (certificateNotAfter === undefined) return undefined;
  const leftMs = Date.parse(certificateNotAfter) - nowMs;
  if (leftMs > CERTIFICATE_NOTICE_MS) return undefined;
  const verb = leftMs > 0 ? "expires" : "has expired";
  return {
    kind: "certificate_expires",
    severity: "warning",
    summary: `The certificate of ${name} ${verb}: it ends ${certificateNotAfter.slice(0, 10)}`,
  };
}

function deviating({ name, anomalies = 0 }: ApplianceDocument): Problem | undefined {
  if (anomalies === 0) return undefined;
  const count = anomalies === 1 ? "one place" : `${anomalies} places`;
  return {
    kind: "api_anomalies",
    severity: "warning",
    summary: `The VRRP list of ${name} deviates from the API in ${count}`,
  };
}
