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

/** `hanging up`: connections are closed without an answer; `failing`: every answer is 503. */
export type Condition = "up" | "hanging up" | "failing";

/** The state of the demo: which appliance is the master, and how each website is. */
export interface World extends Readonly<Record<WebsiteName, Condition>> {
  readonly master: ApplianceName;
}

/** What happens, and what is different after it. */
interface Step {
  readonly sentence: string;
  readonly change: Partial<World>;
}

export const BEGINNING: World = { master: "demo-a", blog: "up", shop: "up", portal: "up" };

/** Repeated forever; each round ends as it began. */
export const SCRIPT: readonly Step[] = [
  failover("demo-b", "demo-a"),
  ...outage("shop", "hanging up"),
  failover("demo-a", "demo-b"),
  ...outage("portal", "failing"),
  failover("demo-b", "demo-a"),
  ...outage("blog", "hanging up"),
  failover("demo-a", "demo-b"),
  ...outage("shop", "failing"),
];

function failover(master: ApplianceName, backup: ApplianceName): Step {
  return { sentence: `failover: ${master} is the master now, ${backup} its backup`, change: { master } };
}

/** An outage of a website, and its repair. */
function outage(website: WebsiteName, condition: "hanging up" | "failing"): readonly Step[] {
  const what = {
    "hanging up": "closes connections without an answer",
    failing: "answers 503 Service Unavailable",
  }[condition];
  return [
    { sentence: `outage: website ${website} ${what}`, change: { [website]: condition } },
    { sentence: `repair: website ${website} is back`, change: { [website]: "up" } },
  ];
}
