import { meaningOf, type Failure } from "../api/failure.ts";
import type { PresentedCertificate } from "../client/tls.ts";
import {
  anomalyCount,
  wasRead,
  type ApplianceSnapshot,
  type DiscoverySnapshot,
  type InterfaceSnapshot,
  type PollHealth,
  type VrrpListSnapshot,
  type VrrpSnapshot,
} from "../fleet/snapshot.ts";
import { once } from "../../support/kept.ts";
import type { CachedAppliance } from "./verdict.ts";
import {
  PROBLEM_OF,
  type ApplianceProblem,
  type ApplianceState,
  type CertificateState,
  type ClusterState,
} from "./states.ts";

/** Returns the state of an appliance by the latest poll of its VRRP list; `undefined` before the first, and while no poll is scheduled. */
export function judgeAppliance({ state, failure }: PollHealth): ApplianceState | undefined {
  if (state === "pending") return undefined;
  if (failure === undefined) return "up";
  const { appliance } = meaningOf(failure.reason);
  if (appliance === "unwatched") return undefined;
  return appliance === "lost" ? "down" : appliance;
}

/**
 * Returns the state of a cluster by its enabled appliances; `undefined` while none answers and one was not polled yet.
 *
 * - `up`: all answer. `degraded`: some do. `dark`: all are down. `unknown`: none answers, and not all are down.
 */
export function judgeCluster(appliances: readonly (ApplianceState | undefined)[]): ClusterState | undefined {
  const polled = appliances.filter((state) => state !== undefined);
  const up = polled.filter((state) => state === "up").length;
  if (up > 0) return up === polled.length ? "up" : "degraded";
  if (polled.length === 0 || polled.length < appliances.length) return undefined;
  return polled.every((state) => state === "down") ? "dark" : "unknown";
}

/** The time in which a certificate, or one that signed it, has to be renewed. */
const CERTIFICATE_NOTICE_MS = 14 * 24 * 3_600_000;

/**
 * Returns the state of a certificate and of those that signed it at the Unix time `nowMs`; `undefined` while its end is not known.
 * `expires_soon` means within 14 days.
 */
export function judgeCertificate(
  certificate: PresentedCertificate | undefined,
  nowMs: number,
): CertificateState | undefined {
  const { notAfterSeconds } = certificate?.endingSigner ?? certificate ?? {};
  if (notAfterSeconds === undefined) return undefined;
  const leftMs = notAfterSeconds * 1000 - nowMs;
  if (leftMs <= 0) return "expired";
  return leftMs > CERTIFICATE_NOTICE_MS ? "valid" : "expires_soon";
}

/** Judges one appliance, at the Unix time `nowMs`. `isAlone` says that no other appliance can take over. */
export function cachedAppliance(
  appliance: ApplianceSnapshot,
  isAlone: boolean,
  nowMs: number,
): CachedAppliance {
  const { identity, vrrp, inventory, results, totals } = appliance;
  const state = judgeAppliance(vrrp.health);
  const certificate = judgeCertificate(vrrp.certificate, nowMs);
  const problems = applianceProblems(appliance, { state, certificate }, isAlone);
  const isUnwatched = isResting(vrrp.health);
  const isRead = wasRead(appliance);
  const { failures = 0 } = totals.counts.vrrp ?? {};
  const isProvenUnread = !isRead && (failures > 1 || vrrp.health.failure?.reason === "stalled");
  // Without spreads: each poll makes one.
  return {
    identity,
    state,
    isUnwatched,
    certificate,
    problems,
    list: vrrp.found?.list,
    isRead,
    isProvenUnread,
    inventory,
    results,
  };
}

/** Whether the latest result of an operation has ended because its schedule has no poll for long. */
export function isResting({ failure }: PollHealth): boolean {
  return failure?.reason === "not_scheduled";
}

function applianceProblems(
  { vrrp, discovery, anomalies }: ApplianceSnapshot,
  { state, certificate }: Pick<CachedAppliance, "state" | "certificate">,
  isAlone: boolean,
): readonly ApplianceProblem[] {
  const [odd] = oddInterfaces(vrrp);
  const known = state === "up" ? discovery : undefined;
  const problems: readonly (ApplianceProblem | undefined)[] = [
    state && PROBLEM_OF.appliance[state],
    odd && interfaceProblem(odd.reported.state, isAlone),
    certificate && PROBLEM_OF.certificate[certificate],
    isUnlisted(known) ? "websites_not_listed" : undefined,
    (known?.beyondLimit ?? 0) > 0 ? "websites_left_out" : undefined,
    (known?.backendsLeftOut ?? 0) > 0 ? "backends_left_out" : undefined,
    anomalyCount(anomalies.counts) > 0 ? "api_anomalies" : undefined,
  ];
  return problems.filter((kind) => kind !== undefined);
}

/** Whether an interface serves its group in the state that it reports. */
export function isServing(state: string): boolean {
  return state === "MASTER" || state === "BACKUP";
}

/** Returns the problem of an interface in a state, which is worse if no other appliance can take over. */
export function interfaceProblem(state: string, isAlone: boolean): "not_serving" | "odd_state" | undefined {
  if (isServing(state)) return undefined;
  return isAlone ? "not_serving" : "odd_state";
}

/** Returns the interfaces in a state that is neither MASTER nor BACKUP. */
export function oddInterfaces({ found }: VrrpSnapshot): readonly InterfaceSnapshot[] {
  return found === undefined ? [] : oddIn(found.list);
}

const oddIn = once(({ interfaces }: VrrpListSnapshot) =>
  interfaces.filter(({ reported }) => !isServing(reported.state)),
);

/** Returns whether the list of websites, or details of them, cannot be polled although the appliance has them, or had them. */
function isUnlisted(discovery: DiscoverySnapshot | undefined): boolean {
  if (discovery === undefined) return false;
  const { list, details, hadList, hadDetails } = discovery;
  if (list.failure !== undefined) return isFault(list.failure, hadList);
  if (details?.failure === undefined || !isFault(details.failure, hadDetails)) return false;
  // A website that was deleted meanwhile is gone with the next list.
  const isListedSince = (list.lastSuccessAtMs ?? 0) > (details.failingSinceMs ?? 0);
  return details.failure.isGone !== true || isListedSince;
}

/** Whether a failure is a fault of polls. Older firmware never had the operation, and a schedule may rest. */
function isFault({ reason }: Failure, wasThere: boolean): boolean {
  return reason === "unsupported" ? wasThere : reason !== "not_scheduled";
}
