/**
 * The types describe the settings of a cluster's members as data. A number in place of an address is its last part, within the network of
 * the cluster.
 */

/** A website in the settings of a member. */
export interface Site {
  readonly mode: "pass" | "detect" | "protect";
  readonly isEnabled: boolean;
  /** The addresses on which the website listens; empty: all. */
  readonly bind: readonly number[];
  /** The server behind the website: one of two that are alike, or one that does not run. */
  readonly server: "first" | "second" | "closed";
  /** Whether the servers answer 503 to this member. */
  readonly isDown: boolean;
}

export interface Group {
  readonly vhid: number;
  readonly priority: number;
  /** The first is the VIP. */
  readonly addresses: readonly number[];
  /** More addresses, which adverts do not name. */
  readonly excluded: readonly number[];
  readonly isPreferred: boolean;
}

export interface Member {
  readonly groups: readonly Group[];
  readonly sites: Readonly<Record<string, Site>>;
  /** The difference from a member that works. */
  readonly is?: "without_keepalived" | "refusing" | "in_fault" | "disabled" | "without_list";
  /** The part that ends once the exporter knows the member. */
  readonly ends?: "appliance" | "machine";
}

export interface Situation {
  readonly name: string;
  readonly members: readonly Member[];
  /** The number of the member that fails; default: the first. */
  readonly failing?: number;
  /** The way in which the member fails; default: its machine crashes. */
  readonly by?: "cut";
  /**
   * The prediction that is right although it differs from the loss: facts are missing; the exporter gives no verdict; or a member that does
   * not answer counts as lost, which it may not be.
   */
  readonly predicted?: "unknown" | "absent" | "more";
}

export const SITES = ["shop", "blog", "docs"] as const;
export const SITE: Site = { mode: "protect", isEnabled: true, bind: [], server: "first", isDown: false };
const GROUP: Omit<Group, "priority"> = {
  vhid: 1,
  addresses: [100, 101],
  excluded: [],
  isPreferred: false,
};

function member(
  group: Partial<Group>,
  sites: Readonly<Record<string, Partial<Site> | undefined>> = {},
  more: Pick<Member, "is" | "ends"> & { readonly second?: Partial<Group> } = {},
): Member {
  const { second, ...rest } = more;
  const all = SITES.flatMap((name) => {
    const own = name in sites ? sites[name] : {};
    return own === undefined ? [] : [[name, { ...SITE, ...own }] as const];
  });
  const groups = [group, ...(second === undefined ? [] : [second])];
  return {
    groups: groups.map((each) => ({ ...GROUP, priority: 150, ...each })),
    sites: Object.fromEntries(all),
    ...rest,
  };
}

const A = { priority: 200, isPreferred: true };
const B = { priority: 150 };
const C = { priority: 100 };
const MASTER = member(A);
/** The second group of a cluster. */
const SECOND = { vhid: 2, addresses: [110] };
const MISSING = undefined;

export const SITUATIONS: readonly Situation[] = [
  { name: "all alike", members: [MASTER, member(B)] },
  { name: "all alike, and its links are cut", members: [MASTER, member(B)], by: "cut" },
  {
    name: "an alias only at the master",
    members: [member({ ...A, excluded: [102, 103] }), member({ ...B, excluded: [103] })],
  },
  { name: "the VIP is an alias there", members: [MASTER, member({ ...B, addresses: [101, 100] })] },
  { name: "another VHID at the backup", members: [MASTER, member({ ...B, vhid: 7 })], predicted: "unknown" },
  { name: "equal priorities", members: [MASTER, member({ ...B, priority: 200 })] },
  { name: "two FAILOVER MASTER", members: [MASTER, member({ ...B, isPreferred: true })] },
  {
    name: "keepalived is stopped at the backup",
    members: [MASTER, member(B, {}, { is: "without_keepalived" })],
    predicted: "unknown",
  },
  { name: "the backup has crashed", members: [MASTER, member(B, {}, { ends: "machine" })] },
  {
    name: "the backup is silent, and its keepalived runs",
    members: [MASTER, member(B, {}, { ends: "appliance" })],
    predicted: "more",
  },
  {
    name: "the backup refuses the credentials",
    members: [MASTER, member(B, {}, { is: "refusing" })],
    predicted: "unknown",
  },
  { name: "the backup is in FAULT", members: [MASTER, member(B, {}, { is: "in_fault" })] },
  {
    name: "the backup is disabled in the configuration",
    members: [MASTER, member(B, {}, { is: "disabled" })],
    predicted: "absent",
  },
  {
    name: "the backup has no list of websites",
    members: [MASTER, member(B, {}, { is: "without_list" })],
    predicted: "unknown",
  },
  { name: "a website is down there", members: [MASTER, member(B, { shop: { isDown: true } })] },
  {
    name: "a website is down at both",
    members: [member(A, { shop: { isDown: true } }), member(B, { shop: { isDown: true } })],
  },
  { name: "a website is missing there", members: [MASTER, member(B, { blog: MISSING })] },
  { name: "a website is there only", members: [member(A, { blog: MISSING }), member(B)] },
  { name: "a website is disabled there", members: [MASTER, member(B, { shop: { isEnabled: false } })] },
  {
    name: "a website is disabled at the master",
    members: [member(A, { shop: { isEnabled: false } }), member(B)],
  },
  { name: "a website is less protected there", members: [MASTER, member(B, { shop: { mode: "detect" } })] },
  {
    name: "a website is better protected there",
    members: [member(A, { shop: { mode: "pass" } }), member(B)],
  },
  { name: "no usable server there", members: [MASTER, member(B, { docs: { server: "closed" } })] },
  { name: "another server there", members: [MASTER, member(B, { docs: { server: "second" } })] },
  {
    name: "a website listens on one of two addresses",
    members: [member(A, { shop: { bind: [101] } }), member(B, { shop: { bind: [101] } })],
  },
  {
    name: "a website listens on another address there",
    members: [member(A, { shop: { bind: [100] } }), member(B, { shop: { bind: [101] } })],
  },
  {
    name: "a website listens on fewer addresses there",
    members: [MASTER, member(B, { shop: { bind: [100] } })],
  },
  {
    name: "three members, loss at the lower one",
    members: [MASTER, member(B), member(C, { shop: MISSING })],
  },
  {
    name: "three members, loss at the higher one",
    members: [MASTER, member(B, { shop: MISSING }), member(C)],
  },
  {
    name: "a tie of two successors, loss at both",
    members: [MASTER, member(B, { shop: MISSING }), member(B, { shop: MISSING })],
  },
  {
    name: "a tie of two successors, losses of their own",
    members: [MASTER, member(B, { shop: MISSING }), member(B, { blog: MISSING })],
  },
  {
    name: "the successor has crashed, loss at the third",
    members: [MASTER, member(B), member(C, { shop: MISSING })].map((each, nth) =>
      nth === 1 ? { ...each, ends: "machine" as const } : each,
    ),
  },
  {
    name: "the successor is silent, and its keepalived runs; loss there",
    members: [MASTER, member(B, { shop: MISSING }, { ends: "appliance" }), member(C)],
    predicted: "unknown",
  },
  {
    name: "the successor refuses the credentials, with a third one behind",
    members: [MASTER, member(B, {}, { is: "refusing" }), member(C)],
    predicted: "unknown",
  },
  {
    name: "the third one is silent",
    members: [MASTER, member(B, { shop: MISSING }), member(C, {}, { ends: "appliance" })],
  },
  {
    name: "two masters, a website of the other one",
    members: [
      member(A, { shop: { bind: [110] } }, { second: { ...SECOND, priority: 100 } }),
      member(B, { shop: { bind: [110] } }, { second: { ...SECOND, priority: 200 } }),
    ],
  },
  {
    name: "two masters, a website that is missing at the other one",
    members: [
      member(A, { blog: MISSING }, { second: { ...SECOND, priority: 100 } }),
      member(B, { shop: { bind: [110] } }, { second: { ...SECOND, priority: 200 } }),
    ],
    failing: 1,
  },
  {
    name: "an alias, a website down, one less protected",
    members: [
      member({ ...A, excluded: [102] }),
      member(B, { shop: { isDown: true }, blog: { mode: "pass" } }),
    ],
  },
  {
    name: "a website missing, one disabled, one without servers",
    members: [MASTER, member(B, { shop: MISSING, blog: { isEnabled: false }, docs: { server: "closed" } })],
    by: "cut",
  },
];
