/** The demo is reachable on this machine only. */
export const HOST = "127.0.0.1";

export const WEBSITES = [
  { id: 1, name: "blog", protocol: "http" },
  { id: 2, name: "shop", protocol: "https" },
  { id: 3, name: "portal", protocol: "both" },
] as const;

export const APPLIANCES = ["demo-a", "demo-b"] as const;

export type WebsiteName = (typeof WEBSITES)[number]["name"];
export type ApplianceName = (typeof APPLIANCES)[number];

/** The state of the demo: which appliance is the master, and which website closes connections without an answer. */
export interface World {
  readonly master: ApplianceName;
  readonly down?: WebsiteName | undefined;
}

/** What happens, and what is different after it. */
interface Step {
  readonly sentence: string;
  readonly change: Partial<World>;
}

export const BEGINNING: World = { master: "demo-a" };

/** Repeated forever; each round ends as it began. */
export const SCRIPT: readonly Step[] = [
  failover("demo-b", "demo-a"),
  ...outage("shop"),
  failover("demo-a", "demo-b"),
  ...outage("portal"),
];

function failover(master: ApplianceName, backup: ApplianceName): Step {
  return { sentence: `failover: ${master} is the master now, ${backup} its backup`, change: { master } };
}

/** An outage of a website, and its repair. */
function outage(down: WebsiteName): readonly Step[] {
  return [
    { sentence: `outage: website ${down} closes connections without an answer`, change: { down } },
    { sentence: `repair: website ${down} is back`, change: { down: undefined } },
  ];
}
