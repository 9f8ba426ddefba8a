/** The wings, and those that each may import. The exporter knows no other wing. */
const WINGS = {
  support: [],
  exporter: ["support"],
  history: ["exporter", "support"],
  operator: ["exporter", "support"],
  appliance: ["exporter", "support"],
  program: ["appliance", "operator", "history", "exporter", "support"],
};

/** The rooms of the exporter and of the history, from the ground up, and those of the same wing that each may import. */
const ROOMS = {
  exporter: {
    api: [],
    config: ["api"],
    client: ["api", "config"],
    polling: ["api", "config", "client"],
    fleet: ["api", "config", "client", "polling"],
    maintenance: ["config", "fleet"],
    judge: ["api", "client", "fleet", "maintenance"],
    document: ["api", "config", "fleet", "maintenance", "judge"],
    story: ["api", "polling", "fleet", "maintenance", "judge", "document"],
    board: ["api", "config", "polling", "fleet", "maintenance", "judge", "document", "story"],
    metrics: ["api", "config", "polling", "fleet", "judge", "story"],
    view: ["judge", "document", "story"],
    page: ["judge", "document", "view"],
    web: ["config", "fleet", "maintenance", "judge", "metrics"],
    command: ["api", "config", "client", "polling", "fleet", "judge", "metrics", "view", "web"],
  },
  history: {
    journal: [],
    timeline: ["journal"],
    report: ["journal", "timeline"],
    command: ["journal", "report"],
  },
};

/** main.ts alone touches the process, and nothing imports it. */
const ALWAYS = String.raw`^(node:)?process$|/main\.ts$`;

/** Forbids files to import from these folders. */
function withoutImports(files, folders, message) {
  const regex = [ALWAYS, ...folders.map((name) => String.raw`^(\.\./)+${name}/`)].join("|");
  const rule = ["error", { patterns: [{ regex, message }] }];
  return { files: [files], rules: { "no-restricted-imports": rule } };
}

const except = (names, known) => Object.keys(names).filter((name) => !known.includes(name));
const listed = (names) => names.join(", ") || "nothing else";

/** A rule of a room also forbids what its wing may not import: the last rule that matches a file counts. */
const imports = Object.entries(WINGS).flatMap(([wing, wings]) => {
  const foreign = except(WINGS, [wing, ...wings]);
  const message = `${wing} knows ${listed(wings)}`;
  const all = ROOMS[wing] ?? {};
  return [
    withoutImports(`src/${wing}/**`, foreign, message),
    ...Object.entries(all).map(([room, rooms]) => {
      const others = except(all, [room, ...rooms]);
      return withoutImports(
        `src/${wing}/${room}/**`,
        [...foreign, ...others],
        `${message}; ${room} knows ${listed(rooms)} of ${wing}`,
      );
    }),
  ];
});

export default {
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  ignorePatterns: ["dist", "out", "coverage"],
  rules: {
    // Threads have no origins.
    "unicorn/require-post-message-target-origin": "off",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "no-console": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-misused-promises": "error",
    "typescript/consistent-type-imports": "error",
    "prefer-const": "error",
    eqeqeq: "error",
    "vitest/no-standalone-expect": "off",
    "no-await-in-loop": "off",
    // Objects here are closures without a this of their own; their functions may be handed about.
    "typescript/unbound-method": "off",
    // Where the runtime's callbacks meet promises, one has to be called from the other.
    "promise/no-callback-in-promise": "off",
    "promise/no-promise-in-callback": "off",
    // Copies instead of changes: data is immutable.
    "oxc/no-map-spread": "off",
  },
  overrides: [
    {
      files: ["src/**"],
      rules: {
        "no-restricted-globals": ["error", "process"],
        "no-restricted-properties": ["error", { object: "globalThis", property: "process" }],
      },
    },
    ...imports,
    { files: ["src/main.ts"], rules: { "no-restricted-globals": "off" } },
    {
      files: ["monitoring/**"],
      rules: {
        "no-restricted-imports": ["error", { patterns: [{ regex: "^(node:)?process$|/(src|test)/" }] }],
        // The SDK's builders have methods of that name.
        "unicorn/no-array-sort": "off",
      },
    },
    {
      files: ["rolldown.config.ts", "vitest.config.ts", "oxlint.config.mjs"],
      rules: { "import/no-default-export": "off" },
    },
  ],
};
