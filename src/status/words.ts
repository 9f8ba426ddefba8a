import type { FailureReason } from "../client/failure.ts";

/** Names as they are read out: `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "nobody";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** Unix time in milliseconds as RFC 3339 in UTC. */
export function instantOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** A group by what people know it by. */
export function groupName({ vhid, vip }: { readonly vhid: number; readonly vip: string }): string {
  return `${vip} (vhid ${vhid})`;
}

/** A website's status code; 0 is none. */
export function statusText(status: number): string {
  return status === 0 ? "no HTTP response" : String(status);
}

const REASON_IN_WORDS: Readonly<Record<FailureReason, string>> = {
  dns: "its name does not resolve",
  connect: "it cannot be reached",
  tls: "its certificate is not trusted, or TLS fails",
  timeout: "it does not answer in time",
  auth: "it refuses the credentials",
  http_status: "it answers with an error",
  protocol: "what answers does not speak HTTP",
  too_large: "its answer is too large",
  decode: "its answer cannot be understood",
  proxy: "the proxy does not let us through",
  secret: "the password file cannot be read",
  appliance_down: "the appliance cannot be reached",
  stalled: "the exporter has ceased to poll it",
  local: "the exporter or its host is out of descriptors, memory, time or slots, or cannot read a file",
  internal: "a bug in the exporter",
};

/** Why an operation fails, for people, and the reason as the metrics have it; what fails is "it". */
export function reasonInWords(reason: FailureReason): string {
  return `${REASON_IN_WORDS[reason]} (${reason})`;
}
