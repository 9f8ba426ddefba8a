import { kindNamed } from "../api/kinds.ts";
import { operationKey } from "../api/operation.ts";
import type { WebsiteDetails } from "../api/website-details.ts";
import type { VrrpInterface } from "../api/vrrp.ts";
import type { WebsiteTest } from "../api/website-test.ts";
import type { PresentedCertificate } from "../client/tls.ts";
import type { ReceivedAnswer } from "../client/client.ts";
import { adviceOn as adviceOnFailure, adviceOnWebsites, type AdviceFacts } from "../api/advice.ts";
import type { ApplianceConfig, StatusRange } from "../config/config.ts";
import { addressOf } from "../fleet/known-websites.ts";
import { groupKey, type ClusterSnapshot, type StatusesSnapshot } from "../fleet/snapshot.ts";
import type { Observation } from "../polling/observation.ts";
import { addressName, describeServers, statusText } from "../judge/words.ts";
import { groupBy } from "../../support/group-by.ts";
import { count, listedBriefly } from "../../support/text.ts";
import { formatTable } from "./format.ts";

/** Formats the end of a certificate's validity as RFC 3339 in UTC. */
export function formatEnd({ notAfterSeconds }: Pick<PresentedCertificate, "notAfterSeconds">): string {
  if (notAfterSeconds === undefined) return "?";
  return new Date(notAfterSeconds * 1000).toISOString().replace(".000Z", "Z");
}

/** The observation of a poll, and the texts about it in the table and in JSON. */
export interface OperationResult {
  readonly observation: Observation;
  /** The answer; `undefined` if there was none, or none that is complete. */
  readonly answer: ReceivedAnswer | undefined;
  /** Whether everything succeeded, or the appliance lacks the operation. */
  readonly ok: boolean;
  /**
   * The result: `ok`, the reason of the failure, or the protocols that are not tested, or whose status is not certain, and `unexpected` after
   * a status that is not expected.
   */
  readonly result: string;
  readonly detail: string;
  /** The decoded answer; for a website test, the exported statuses. */
  readonly value?: unknown;
  /** A sentence for each status of a website that is not expected. @see summarize */
  readonly unexpected?: readonly string[];
}

export interface PolledAppliance {
  readonly appliance: ApplianceConfig;
  /** Whether everything succeeded, except for operations that the appliance lacks, and covered the configured protocols. */
  readonly ok: boolean;
  /** The results, the VRRP list first. Nothing follows if the list shows that the appliance is unreachable or unauthorized. */
  readonly results: readonly OperationResult[];
  readonly certificate: PresentedCertificate | undefined;
  /** The ids of the websites that the appliance lists; `undefined` unless a configured one is not among them. */
  readonly knownIds: readonly number[] | undefined;
  /** The facts about this appliance alone. */
  readonly facts: ClusterSnapshot | undefined;
}

/** Returns the VIP of an interface, with its name where several interfaces have one VHID and VIP. */
function nameIn(interfaces: readonly VrrpInterface[]): (one: VrrpInterface) => string {
  const alike = groupBy(interfaces, ({ vhid, vip }) => groupKey({ vhid, vip }));
  return ({ vhid, vip, name }) => {
    const isAlone = alike.get(groupKey({ vhid, vip }))?.length === 1;
    return isAlone ? vip : addressName(vip, { interface: name });
  };
}

type Summary = Omit<OperationResult, "observation" | "answer">;

/**
 * Summarizes a poll; `facts` are known after the polls. If `mustBeUp`, a test of a website fails where it finds a status that is not among
 * the expected ones; else only its poll counts.
 */
export function summarize(
  observation: Observation,
  facts: ClusterSnapshot | undefined,
  mustBeUp: boolean,
): Summary {
  if (!observation.outcome.ok) {
    const { reason, message, isGone } = observation.outcome.failure;
    // Older firmware has no details, and a website may have been deleted since it was listed.
    const isAbsent = reason === "unsupported" || (observation.kind === "website_details" && isGone === true);
    return { ok: isAbsent, result: isAbsent ? "unsupported" : reason, detail: message };
  }
  const { value } = observation.outcome;
  const succeeded = (detail: string): Summary => ({ ok: true, result: "ok", detail, value });
  switch (observation.kind) {
    case "vrrp": {
      const { interfaces, anomalies } = observation.outcome.value;
      const byState = groupBy(interfaces, ({ state }) => state);
      const roles = Array.from(byState, ([state, those]) => {
        return `${state} of ${listedBriefly(those.map(nameIn(interfaces)))}`;
      });
      return succeeded(counted(interfaces.length, "interface", anomalies, roles));
    }
    case "website_list": {
      const { ids, invalid } = observation.outcome.value;
      return succeeded(counted(ids.length, "website", invalid));
    }
    case "website_details":
      return succeeded(describeDetails(observation.outcome.value));
    case "website_test": {
      const [appliance] = facts?.appliances ?? [];
      const { websiteId: id } = observation;
      const website = appliance?.websites.find(({ websiteId }) => websiteId === id);
      const known = appliance?.known.find(({ websiteId }) => websiteId === id);
      const expected = mustBeUp ? known?.expectStatus : undefined;
      return summarizeTest(observation.outcome.value, website?.found, expected);
    }
    default:
      return observation satisfies never;
  }
}

/** Statuses outside `expected` are failures; without it, no status is one. */
function summarizeTest(
  { blocks }: WebsiteTest,
  found: StatusesSnapshot | undefined,
  expected: readonly StatusRange[] | undefined,
): Summary {
  const known = (found?.statuses ?? []).map(({ protocol, status, isUp, text }) => {
    return { protocol, status, isUp, text };
  });
  const statuses = [...known, ...(found?.uncertain ?? [])];
  const lacking: string[] = [];
  const unexpected: string[] = [];
  const details = statuses.map((each) => {
    const { protocol, status, text } = each;
    if (blocks.every((block) => block.protocol !== protocol)) {
      lacking.push(`no ${protocol}`);
      return `the appliance does not test ${protocol}`;
    }
    const words = `${protocol} ${statusText(status, text)}`;
    if (status === undefined) lacking.push(`no ${protocol} status`);
    if (!("isUp" in each) || each.isUp || expected === undefined) return words;
    const sentence = `${words} is not among expect_status (${expected.map(rangeText).join(", ")})`;
    unexpected.push(sentence);
    return sentence;
  });
  const wrong = [...lacking, ...(unexpected.length === 0 ? [] : ["unexpected"])];
  return {
    ok: wrong.length === 0,
    result: wrong.join(", ") || "ok",
    detail: details.join(", "),
    value: statuses,
    ...(expected && { unexpected }),
  };
}

/** Returns a range as the configuration has it: `200-399` or `401`. */
function rangeText({ from, to }: StatusRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}

/** Returns `2 websites`, or `1 interface, MASTER of 192.0.2.100, api anomalies: 3`. */
function counted(
  number: number,
  what: string,
  anomalies: readonly unknown[],
  further: readonly string[] = [],
): string {
  const odd = anomalies.length === 0 ? [] : [`api anomalies: ${anomalies.length}`];
  return [count(number, what), ...further, ...odd].join(", ");
}

/** Returns `shop, https shop.example.org:443, protect, 192.0.2.81:8080 ok and 192.0.2.82:8080 (backup) error`. */
function describeDetails(details: WebsiteDetails): string {
  const { name, protocol = "", mode = "unknown mode", isEnabled, backends } = details;
  const state = isEnabled === false ? "disabled" : mode;
  return `${name}, ${`${protocol} ${addressOf(details)}`.trim()}, ${state}, ${describeServers(backends?.shown, backends?.leftOut)}`;
}

/** Writes a row for each operation, those that failed first, or only these, and below the rows the advice on failures. */
export function pollReport(
  polled: readonly PolledAppliance[],
  hasColor: boolean,
  isFailedOnly = false,
): string {
  const all = polled.flatMap(({ appliance, results }) => results.map((result) => ({ appliance, ...result })));
  const [failed, well] = [all.filter(({ ok }) => !ok), all.filter(({ ok }) => ok)];
  const shown = isFailedOnly ? failed : [...failed, ...well];
  const rows = shown.map(({ appliance, observation, ok, result, detail }) => {
    const cell = { text: result, color: ok ? "green" : "red" } as const;
    const duration = `${(observation.durationSeconds ?? 0).toFixed(3)} s`;
    return [appliance.name, operationKey(observation), cell, duration, detail];
  });
  const table = formatTable(["appliance", "operation", "result", "duration", "detail"], rows, hasColor);
  const advice = polled.flatMap((each) => {
    const text = adviceOn(each);
    return text === undefined ? [] : `${each.appliance.name}: ${text}\n`;
  });
  return advice.length === 0 ? table : `${table}\nWhat to do:\n${advice.join("")}`;
}

/** Returns the body of an answer without the credentials. */
export function bodyOf(answer: ReceivedAnswer | undefined): string | undefined {
  return answer?.redact(Buffer.from(answer.bytes).toString());
}

/** Returns the results as data, with the response bodies if `isRaw`. */
export function jsonResult(polled: PolledAppliance, isRaw = false): Record<string, unknown> {
  const { appliance, ok, results, certificate } = polled;
  const operations = results.map(({ observation, ok: isOk, result, value, unexpected, answer }) => {
    const { outcome, durationSeconds } = observation;
    const failure = outcome.ok ? undefined : outcome.failure;
    const operation = operationKey(observation);
    return {
      operation,
      ok: isOk,
      result,
      durationSeconds,
      value,
      unexpected,
      failure,
      body: isRaw ? bodyOf(answer) : undefined,
    };
  });
  const { name, cluster } = appliance;
  return { appliance: name, cluster, ok, certificate, operations, advice: adviceOn(polled) };
}

/** Returns a sentence with advice for the user about an appliance. */
function adviceOn({ appliance, results, knownIds }: PolledAppliance): string | undefined {
  const [list, ...others] = results.map(({ observation }) => observation);
  if (list?.outcome.ok === false) return adviceOnFailure(list.outcome.failure, factsOf(appliance));
  const unknown = others.flatMap((each) =>
    each.kind === "website_test" && !each.outcome.ok && each.outcome.failure.isGone ? each.websiteId : [],
  );
  if (unknown.length > 0) return adviceOnWebsites(unknown, knownIds);
  const [failure] = results.flatMap(({ ok, observation: { outcome } }) =>
    ok || outcome.ok || outcome.failure.isGone ? [] : outcome.failure,
  );
  return failure && adviceOnFailure(failure, factsOf(appliance));
}

function factsOf({ baseUrl, kind, http: { basicAuth } }: ApplianceConfig): AdviceFacts {
  const { port, since, operations } = kindNamed(kind);
  const of = { baseUrl, port, since, listPath: operations.vrrp.path() };
  if (basicAuth === undefined) return { ...of, user: null };
  const { username: name, password } = basicAuth;
  return {
    ...of,
    user: { name, passwordFile: password.kind === "file" ? password.path : undefined },
  };
}
