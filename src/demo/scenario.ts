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

export type Step =
  | { readonly kind: "failover" }
  | { readonly kind: "website"; readonly website: WebsiteName; readonly condition: Condition };

export const BEGINNING: World = {
  master: "demo-a",
  websites: { blog: "up", shop: "up", portal: "up" },
};

/** Repeated forever. The number of failovers is even, so that each round ends as it began. */
const SCRIPT: readonly Step[] = [
  { kind: "failover" },
  { kind: "website", website: "shop", condition: "refusing" },
  { kind: "website", website: "shop", condition: "up" },
  { kind: "failover" },
  { kind: "website", website: "portal", condition: "failing" },
  { kind: "website", website: "portal", condition: "up" },
  { kind: "failover" },
  { kind: "website", website: "blog", condition: "refusing" },
  { kind: "website", website: "blog", condition: "up" },
  { kind: "failover" },
  { kind: "website", website: "shop", condition: "failing" },
  { kind: "website", website: "shop", condition: "up" },
];

export function* script(): Generator<Step, never> {
  for (;;) yield* SCRIPT;
}

/** The world after a step. */
export function advance(world: World, step: Step): World {
  switch (step.kind) {
    case "failover":
      return { ...world, master: other(world.master) };
    case "website":
      return { ...world, websites: { ...world.websites, [step.website]: step.condition } };
    default:
      return step satisfies never;
  }
}

/** A sentence that describes a step; `world` is the state after it. */
export function describeStep(step: Step, { master }: World): string {
  switch (step.kind) {
    case "failover":
      return `failover: ${master} is the master now, ${other(master)} its backup`;
    case "website":
      return describeWebsite(step.website, step.condition);
    default:
      return step satisfies never;
  }
}

function describeWebsite(website: WebsiteName, condition: Condition): string {
  switch (condition) {
    case "up":
      return `repair: website ${website} is back`;
    case "refusing":
      return `outage: website ${website} stops listening, connections are refused`;
    case "failing":
      return `outage: website ${website} answers 503 Service Unavailable`;
    default:
      return condition satisfies never;
  }
}

function other(appliance: ApplianceName): ApplianceName {
  return appliance === "demo-a" ? "demo-b" : "demo-a";
}
