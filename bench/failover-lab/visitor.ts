import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { addLink, addNamespace } from "../../test/e2e/lab/network.ts";
import type { Sandbox } from "../../test/e2e/lab/sandbox.ts";
import { NAME_PORT, sitePort } from "./node.ts";
import { SITES } from "./situations.ts";

/** The result of requests to all addresses of a cluster. */
export interface Visit {
  /** The node that has an address; the keys are addresses. */
  readonly nodes: ReadonlyMap<string, string>;
  /** The protection of a website that answers; the keys have the form `WEBSITE ADDRESS`. */
  readonly modes: ReadonlyMap<string, string>;
}

export type Visitor = () => Promise<Visit>;

/** This is longer than nginx waits for a server. */
const TIMEOUT_S = 2;
/** VRRP waits for three adverts. */
const TAKEOVER_MS = 2_000;
const FORMAT = "%{url} %{http_code} %header{x-node} %header{x-mode}\\n";

/** Connects a visitor to the network of a cluster. */
export async function addVisitor(
  sandbox: Sandbox,
  namespace: string,
  {
    bridge,
    network,
    addresses,
  }: { readonly bridge: string; readonly network: string; readonly addresses: readonly string[] },
): Promise<Visitor> {
  await addNamespace(sandbox, namespace);
  await addLink(sandbox, { namespace, device: "vrrp0", bridge, address: `${network}.5/24` });
  const ports = [NAME_PORT, ...SITES.map(sitePort)];
  const urls = addresses.flatMap((address) => ports.map((port) => `http://${address}:${port}/`));
  const options = ["-s", "--parallel", "--max-time", String(TIMEOUT_S), "-w", FORMAT];
  // curl exits with the last failure, but here each failure is a result.
  const curl = [
    "sh",
    "-c",
    'curl "$@" || :',
    "curl",
    ...options,
    ...urls.flatMap((url) => ["-o", "/dev/null", url]),
  ];
  return async () => {
    const lines = (await sandbox.run({ namespace }, curl)).trim().split("\n");
    const answers = new Map(
      lines.map((line) => {
        const [url = "", status, ...headers] = line.split(" ");
        return [url, status === "200" || status === "204" ? headers.join("") : undefined] as const;
      }),
    );
    const found = (keyed: readonly (readonly [string, string])[]) =>
      new Map(
        keyed.flatMap(([key, url]) => {
          const answer = answers.get(url);
          return answer === undefined ? [] : [[key, answer] as const];
        }),
      );
    return {
      nodes: found(addresses.map((address) => [address, `http://${address}:${NAME_PORT}/`])),
      modes: found(
        addresses.flatMap((address) =>
          SITES.map((site) => [`${site} ${address}`, `http://${address}:${sitePort(site)}/`] as const),
        ),
      ),
    };
  };
}

/** Returns what a visitor finds once a takeover is over. */
export async function visitAfterTakeover(visitor: Visitor): Promise<Visit> {
  await delay(TAKEOVER_MS);
  for (let before = await visitor(); ;) {
    const now = await visitor();
    if (isDeepStrictEqual(before, now)) return now;
    before = now;
  }
}

/** Returns what visitors have lost: `192.0.2.100`, `shop`, `shop (protection)`. A website at a lost address is not listed twice. */
export function lossesBetween(before: Visit, after: Visit): readonly string[] {
  const addresses = [...before.nodes.keys()].filter((address) => !after.nodes.has(address));
  const sites = [...before.modes].flatMap(([key, mode]) => {
    const [site = "", address = ""] = key.split(" ");
    if (addresses.includes(address)) return [];
    const now = after.modes.get(key);
    if (now === undefined) return [site];
    return STRENGTHS.indexOf(now) < STRENGTHS.indexOf(mode) ? [`${site} (protection)`] : [];
  });
  return [...new Set([...addresses, ...sites])].toSorted();
}

const STRENGTHS: readonly string[] = ["pass", "detect", "protect"];
