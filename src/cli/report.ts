import type { WebsiteDetails } from "../api/website-details.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { formatErrors, limitErrors, type ConfigError } from "../config/errors.ts";
import { addressOf } from "../fleet/known-websites.ts";
import type { StatusSnapshot } from "../fleet/snapshot.ts";
import { operationKey } from "../polling/observation.ts";
import { describeServers, statusText } from "../status/words.ts";
import { adviceOn } from "./advice.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { toJson } from "./printable.ts";
import type { OperationResult, Polled } from "./poll-once.ts";
import { formatTable } from "./table.ts";

/** Prints configuration errors, a line each or as JSON, and returns the exit code. */
export function printErrors(
  errors: readonly ConfigError[],
  io: Io,
  { exitCode = 1, output }: { readonly exitCode?: ExitCode; readonly output?: Flags["output"] } = {},
): ExitCode {
  if (output === "json") io.out(toJson({ ok: false, errors: limitErrors(errors) }));
  else io.err(`${formatErrors(errors).join("\n")}\n`);
  return exitCode;
}

/** Prints that no appliance has this name, and returns the exit code. */
export function printUnknown(
  name: string,
  file: string,
  appliances: readonly ApplianceConfig[],
  io: Io,
): ExitCode {
  const known = appliances.map((appliance) => appliance.name).join(", ") || "none";
  io.err(`unknown appliance ${JSON.stringify(name)}; ${file} has ${known}\n`);
  return 2;
}

/** The end of a certificate's validity as RFC 3339 in UTC. */
export function formatEnd({ notAfterSeconds }: PresentedCertificate): string {
  return notAfterSeconds === undefined
    ? "?"
    : new Date(notAfterSeconds * 1000).toISOString().replace(".000Z", "Z");
}

/** What became of an operation. */
interface Summary {
  /** Whether everything succeeded, or the appliance lacks the operation. */
  readonly ok: boolean;
  /** `ok`, the reason of the failure, or the protocols that are not tested. */
  readonly result: string;
  readonly detail: string;
  /** What was decoded; of a website test, the exported statuses. */
  readonly value?: unknown;
}

function summarize({ observation }: OperationResult, polled: Polled): Summary {
  if (!observation.outcome.ok) {
    const { reason, message, status } = observation.outcome.failure;
    // Older firmware has no details, and a website may have been deleted since it was listed.
    const isAbsent = reason === "unsupported" || (observation.kind === "website_details" && status === 404);
    return { ok: isAbsent, result: isAbsent ? "unsupported" : reason, detail: message };
  }
  const { value } = observation.outcome;
  switch (observation.kind) {
    case "vrrp": {
      const { interfaces, anomalies } = observation.outcome.value;
      return { ok: true, result: "ok", detail: counted(interfaces.length, "interface", anomalies), value };
    }
    case "website_list": {
      const { ids, invalid } = observation.outcome.value;
      return { ok: true, result: "ok", detail: counted(ids.length, "website", invalid), value };
    }
    case "website_details":
      return { ok: true, result: "ok", detail: describeDetails(observation.outcome.value), value };
    case "website_test": {
      const { blocks } = observation.outcome.value;
      const statuses = statusesOf(polled, observation.websiteId);
      const untested = statuses
        .map(({ protocol }) => protocol)
        .filter((protocol) => blocks.every((block) => block.protocol !== protocol));
      const detail = statuses.map(({ protocol, status, text }) =>
        untested.includes(protocol)
          ? `the appliance does not test ${protocol}`
          : `${protocol} ${statusText(status, text)}`,
      );
      const result = untested.map((protocol) => `no ${protocol}`).join(", ") || "ok";
      return { ok: untested.length === 0, result, detail: detail.join(", "), value: statuses };
    }
    default:
      return observation satisfies never;
  }
}

/** As exported. */
function statusesOf({ appliance, fleet }: Polled, id: number): readonly Omit<StatusSnapshot, "changes">[] {
  const [snapshot] = fleet.cluster(appliance.cluster, 0)?.appliances ?? [];
  const website = snapshot?.websites.find(({ websiteId }) => websiteId === id);
  return (website?.found?.statuses ?? []).map(({ protocol, status, isUp, text }) => {
    return { protocol, status, isUp, ...(text === undefined ? {} : { text }) };
  });
}

/** `2 websites`, `1 interface, api anomalies: 3`. */
function counted(count: number, what: string, anomalies: readonly unknown[]): string {
  const found = `${count} ${what}${count === 1 ? "" : "s"}`;
  return anomalies.length === 0 ? found : `${found}, api anomalies: ${anomalies.length}`;
}

/** `shop, https shop.example.org:443, protect, 192.0.2.81:8080 ok and 192.0.2.82:8080 (backup) error`. */
function describeDetails(details: WebsiteDetails): string {
  const { name, protocol = "", mode = "unknown mode", isEnabled, backends } = details;
  const state = isEnabled === false ? "disabled" : mode;
  return `${name}, ${`${protocol} ${addressOf(details)}`.trim()}, ${state}, ${describeServers(backends)}`;
}

/** Whether everything succeeded, except for operations that the appliance lacks, and covered the configured protocols. */
export function isSuccess(polled: Polled): boolean {
  return polled.results.every((result) => summarize(result, polled).ok);
}

/** A row for each operation, and below what to do about failures. */
export function pollReport(polled: readonly Polled[], hasColor: boolean): string {
  const rows = polled.flatMap((each) =>
    each.results.map((result) => {
      const { ok, result: text, detail } = summarize(result, each);
      const { durationSeconds = 0 } = result.observation;
      const cell = { text, color: ok ? "green" : "red" } as const;
      return [
        each.appliance.name,
        operationKey(result.observation),
        cell,
        `${durationSeconds.toFixed(3)} s`,
        detail,
      ];
    }),
  );
  const table = formatTable(["appliance", "operation", "result", "duration", "detail"], rows, hasColor);
  const advice = polled.flatMap((each) => {
    const text = adviceOn(each);
    return text === undefined ? [] : `${each.appliance.name}: ${text}\n`;
  });
  return advice.length === 0 ? table : `${table}\nWhat to do:\n${advice.join("")}`;
}

/** The results as data, with the response bodies if `isRaw`. */
export function jsonResult(polled: Polled, isRaw = false): Record<string, unknown> {
  const { appliance, results, certificate } = polled;
  const { name, cluster } = appliance;
  const operations = results.map((result) => {
    const { outcome, durationSeconds } = result.observation;
    const { ok, result: text, value } = summarize(result, polled);
    const failure = outcome.ok ? undefined : outcome.failure;
    const body = isRaw ? result.body : undefined;
    return {
      operation: operationKey(result.observation),
      ok,
      result: text,
      durationSeconds,
      value,
      failure,
      body,
    };
  });
  return {
    appliance: name,
    cluster,
    ok: isSuccess(polled),
    certificate,
    operations,
    advice: adviceOn(polled),
  };
}
