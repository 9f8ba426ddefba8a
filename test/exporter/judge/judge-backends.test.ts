import { expect, test } from "vitest";
import { gathered, type Backend, type WebsiteDetails } from "../../../src/exporter/api/website-details.ts";
import { isPartOf, judgeBackends, usableBackends } from "../../../src/exporter/judge/judge-website.ts";
import { SHOP_DETAILS } from "../../support/observations.ts";

/** `active ok`, `backup error`, `down ?`, `? ok`: role and status of each server. */
function servers(...words: readonly string[]): WebsiteDetails {
  const backends = words.map((each, nth): Backend => {
    const [role = "", status = ""] = each.split(" ");
    return {
      address: `192.0.2.${nth}:80`,
      role: role === "active" || role === "backup" || role === "down" ? role : undefined,
      isOk: status === "?" ? undefined : status === "ok",
    };
  });
  return { ...SHOP_DETAILS, backends: gathered(backends) };
}

test.each([
  [["active ok", "backup ok", "active error"], 2],
  [["active error", "backup error"], 0],
  [["down ok"], 0],
  [[], 0],
  [["active error", "backup ?"], undefined],
  [["active error", "? ok"], undefined],
  [["active error", "? error", "down ?"], 0],
  [["active ok", "active ?"], 1],
])("of %j %s are usable", (words, usable) => {
  expect(usableBackends(servers(...words))).toBe(usable);
});

test("servers that are not known, or a row that was dropped, are not counted as none", () => {
  expect(usableBackends({ ...SHOP_DETAILS, backends: undefined })).toBeUndefined();
  const failing = { address: "192.0.2.1:80", role: "active", isOk: false } as const;
  expect(usableBackends({ ...SHOP_DETAILS, backends: gathered([failing, undefined]) })).toBeUndefined();
});

const OK = servers("active ok");
const SOME = servers("active ok", "active error");
const NONE = servers("active error");

test.each([
  ["all are OK everywhere", [OK, OK], false, "ok"],
  ["the backup sees an error", [OK, SOME], false, "some_down"],
  ["the backup finds none usable, the master one", [OK, NONE], false, "some_down"],
  ["the master finds none usable", [NONE, OK], false, "none_usable"],
  ["the master finds none usable, and tests find the website up", [NONE, OK], true, "none_usable_but_up"],
  [
    "the master does not know, the backup finds none usable",
    [servers("active ?"), NONE],
    false,
    "none_usable",
  ],
  ["it is disabled", [{ ...NONE, isEnabled: false }], false, undefined],
  ["nothing is known", [servers("active ?")], false, undefined],
] as const)("%s", (_, [master, ...others], isUp, state) => {
  const views = [
    { details: master, isMaster: true },
    ...others.map((details) => ({ details, isMaster: false })),
  ];
  expect(judgeBackends(views, { isUp, isMasterSilent: false })).toBe(state);
});

test.each([
  ["none_usable", ["down ok"], true],
  ["none_usable_but_up", ["down ok"], true],
  ["some_down", ["down ok"], false],
  ["some_down", ["active error", "backup ok"], true],
  ["none_usable", ["active ok"], false],
] as const)(
  "that the servers of a website are %s is said of an appliance with %j: %s",
  (state, words, isPart) => {
    expect(isPartOf(state, servers(...words))).toBe(isPart);
    expect(isPartOf(state, { ...servers(...words), isEnabled: false })).toBe(false);
  },
);
