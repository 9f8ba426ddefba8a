/** What there is in the lab, as data: clusters of two nodes, `<cluster>-a` and `<cluster>-b`, where `a` is to be master. */

const SHARED = [
  "clean",
  "crash",
  "split",
  "off",
  "nobody",
  "web",
  "common",
  "cutoff",
  "refusal",
  "dark",
  "planned",
] as const;

/** Each recipe of docs/planned-work.md, and what goes wrong meanwhile. */
export const RECIPES = ["spare", "main", "both"] as const;
export const TROUBLES = ["calm", "split", "site", "death"] as const;
const PLANNED = RECIPES.flatMap((recipe) => TROUBLES.map((trouble) => `${recipe}-${trouble}` as const));

/** Each exporter, and the clusters that it polls. Two that poll the same give each notification once. */
export const EXPORTERS = [
  { name: "main", clusters: SHARED },
  { name: "twin", clusters: SHARED },
  { name: "third", clusters: ["outage", "restart"] },
  { name: "left", clusters: ["parted"] },
  { name: "right", clusters: ["parted"] },
  { name: "work", clusters: PLANNED },
] as const;

export type ExporterName = (typeof EXPORTERS)[number]["name"];
export type ClusterName = (typeof EXPORTERS)[number]["clusters"][number];

const CLUSTERS: readonly ClusterName[] = [...new Set(EXPORTERS.flatMap(({ clusters }) => clusters))];

/** Website tests by the appliances of a cluster, over HTTP. */
export const WEBSITES = [
  { id: 2, name: "closed", cluster: "web" },
  { id: 7, name: "at-master", cluster: "web" },
  { id: 8, name: "at-backup", cluster: "web" },
  // Nothing happens to these: the others are less than half of the cluster's websites, each an alert of its own.
  ...([11, 12, 13, 14] as const).map((id) => ({ id, name: `calm-${id}`, cluster: "web" }) as const),
  ...([21, 22, 23] as const).map((id) => ({ id, name: `common-${id}`, cluster: "common" }) as const),
  { id: 5, name: "shop", cluster: "outage" },
  { id: 6, name: "slow", cluster: "outage" },
  ...RECIPES.map((recipe, nth) => ({ id: 31 + nth, name: recipe, cluster: `${recipe}-site` }) as const),
] as const satisfies readonly { readonly cluster: ClusterName; [key: string]: unknown }[];

export type WebsiteName = (typeof WEBSITES)[number]["name"];

export const SITE = "lab";

/** Of all websites. */
export const WEBSITE_ADDRESS = "198.51.100.200";
const APPLIANCE_PORT = 4849;
export const EXPORTER_PORT = 10849;
/** Who reads the exporters, and starts planned work. */
export const OPERATOR = { username: "operator", password: "correct horse" };
export const CREDENTIALS = { username: "monitor", password: "pass:word" };

/** A node as it is built. */
export interface NodePlan {
  readonly name: string;
  /** In the network through which exporters and websites are reached. */
  readonly fleetAddress: string;
  /** In the cluster's own network, with the length of its prefix. */
  readonly vrrpAddress: string;
  readonly listen: string;
  readonly priority: number;
  /** In the words of the management API: 1 is the preferred master. */
  readonly type: number;
}

export interface GroupPlan {
  /** Of keepalived. */
  readonly instance: string;
  readonly vhid: number;
  readonly vip: string;
}

interface ClusterPlan {
  readonly name: ClusterName;
  readonly bridge: string;
  readonly groups: readonly GroupPlan[];
  readonly nodes: readonly [NodePlan, NodePlan];
}

export function planCluster(name: ClusterName): ClusterPlan {
  const number = CLUSTERS.indexOf(name) + 1;
  const node = (letter: "a" | "b", order: number, priority: number): NodePlan => {
    const fleetAddress = `198.51.100.${10 + 2 * number + order}`;
    return {
      name: `${name}-${letter}`,
      fleetAddress,
      vrrpAddress: `10.77.${number}.${11 + order}/24`,
      listen: `${fleetAddress}:${APPLIANCE_PORT}`,
      priority,
      type: order + 1,
    };
  };
  return {
    name,
    bridge: `lan${number}`,
    groups: Array.from({ length: name === "clean" ? 12 : 1 }, (_, index) => ({
      instance: `carp${index}`,
      vhid: index + 1,
      vip: `10.77.${number}.${100 + index}`,
    })),
    nodes: [node("a", 0, 200), node("b", 1, 150)],
  };
}

/** An exporter as it is built: its addresses among appliances, and where Prometheus is. */
export interface ExporterPlan {
  readonly name: ExporterName;
  readonly clusters: readonly ClusterName[];
  readonly fleetAddress: string;
  readonly scrapeAddress: string;
}

const EXPORTER_PLANS: readonly ExporterPlan[] = EXPORTERS.map((exporter, index) => ({
  ...exporter,
  fleetAddress: `198.51.100.${index + 2}`,
  scrapeAddress: `203.0.113.${index + 2}`,
}));

/** What a lab consists of. */
export interface LabPlan {
  readonly exporters: readonly ExporterPlan[];
  readonly clusters: readonly ClusterName[];
  readonly websites: readonly (typeof WEBSITES)[number][];
}

/** These exporters, and what they poll. */
export function planLab(names: readonly ExporterName[]): LabPlan {
  const exporters = EXPORTER_PLANS.filter(({ name }) => names.includes(name));
  const clusters = [...new Set(exporters.flatMap((each) => each.clusters))];
  return { exporters, clusters, websites: WEBSITES.filter(({ cluster }) => clusters.includes(cluster)) };
}
