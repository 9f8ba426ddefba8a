export const WEBSITES = [
  { id: 1, name: "blog", protocol: "http" },
  { id: 2, name: "shop", protocol: "https" },
  { id: 3, name: "portal", protocol: "both" },
] as const;

export const APPLIANCES = ["demo-a", "demo-b"] as const;

export type WebsiteName = (typeof WEBSITES)[number]["name"];
export type ApplianceName = (typeof APPLIANCES)[number];

/** `refusing`: connections are refused; `failing`: every answer is 503. */
export type Condition = "up" | "refusing" | "failing";

/** The state of the demo. */
export interface World {
  readonly master: ApplianceName;
  readonly websites: Readonly<Record<WebsiteName, Condition>>;
}

/** What happens, and the world after it. */
export interface Step {
  readonly sentence: string;
  readonly apply: (world: World) => World;
}

export const BEGINNING: World = {
  master: "demo-a",
  websites: { blog: "up", shop: "up", portal: "up" },
};

/** Repeated forever; each round ends as it began. */
export const SCRIPT: readonly Step[] = [
  failover("demo-b", "demo-a"),
  ...outage("shop", "refusing"),
  failover("demo-a", "demo-b"),
  ...outage("portal", "failing"),
  failover("demo-b", "demo-a"),
  ...outage("blog", "refusing"),
  failover("demo-a", "demo-b"),
  ...outage("shop", "failing"),
];

function failover(master: ApplianceName, backup: ApplianceName): Step {
  return {
    sentence: `failover: ${master} is the master now, ${backup} its backup`,
    apply: (world) => ({ ...world, master }),
  };
}

/** An outage of a website, and its repair. */
function outage(website: WebsiteName, condition: "refusing" | "failing"): readonly Step[] {
  const what = {
    refusing: "stops listening, connections are refused",
    failing: "answers 503 Service Unavailable",
  }[condition];
  const become = (next: Condition) => (world: World) => ({
    ...world,
    websites: { ...world.websites, [website]: next },
  });
  return [
    { sentence: `outage: website ${website} ${what}`, apply: become(condition) },
    { sentence: `repair: website ${website} is back`, apply: become("up") },
  ];
}
