import type { ApplianceDocument, ClusterDocument } from "../document/schema.ts";
import { LEVELS, type Level } from "../judge/states.ts";
import { groupBy } from "../../support/group-by.ts";
import { isEqual } from "../../support/kept.ts";
import type { Cell, Row } from "./row.ts";
import { relative, type Phrase } from "./time.ts";
import { inWords } from "./words.ts";

type DisplayedWebsite = ClusterDocument["websites"][number];
type DisplayedState = Partial<DisplayedWebsite["states"][number]>;
type DisplayedProtocol = DisplayedState["protocol"];
type Test = ApplianceDocument["websites"][number];

/** Returns the row of a website, which says what differs between its protocols. */
export function websiteRow(
  { id, name, states: judged }: DisplayedWebsite,
  cluster: string,
  tests: readonly (Test | undefined)[],
  cellsOf: (cellOf: (test: Test | undefined) => Cell) => readonly Cell[],
): Row {
  const states = judged.length === 0 ? unjudged(tests) : judged;
  const protocols = states.map(({ protocol }) => protocol);
  return {
    title: name,
    aside: protocols.flatMap((each) => each ?? []).join(" + "),
    level: worstOf(states.map(({ level = "unknown" }) => level)),
    keys: states.flatMap(({ key }) => key ?? []),
    subjects: protocols.map((each) => ({ kind: "website", cluster, id, name, protocol: each ?? "" })),
    words: wordsOf(states),
    cells: cellsOf((test) => testCell(test, protocols)),
  };
}

/** Returns the protocols of which something was found. */
function unjudged(tests: readonly (Test | undefined)[]): readonly DisplayedState[] {
  const found = tests.flatMap((test) => [...(test?.statuses ?? []), ...(test?.uncertain ?? [])]);
  const protocols = new Set(found.map(({ protocol }) => protocol));
  return protocols.size === 0 ? [{}] : Array.from(protocols, (protocol) => ({ protocol }));
}

function worstOf(levels: readonly Level[]): Level {
  return levels.toSorted((one, other) => LEVELS.indexOf(other) - LEVELS.indexOf(one))[0] ?? "unknown";
}

/** Returns `Down for 3 min`; where protocols differ, `https down for 3 min` for each that is not well. */
function wordsOf(states: readonly DisplayedState[]): readonly Phrase[] {
  const troubled = states.filter(({ level }) => level !== "well");
  const told = troubled.length === 0 ? states : troubled;
  const alike = [...groupBy(told, ({ state, since }) => JSON.stringify([state, since])).values()];
  const [one] = alike;
  if (one?.length === states.length) return phrasesOf(one[0] ?? {}, inWords(one[0]?.state));
  return alike.flatMap((some, nth) => {
    const names = some.map(({ protocol }) => protocol).join(" + ");
    const state = inWords(some[0]?.state).toLowerCase();
    return phrasesOf(some[0] ?? {}, `${nth === 0 ? "" : "and "}${names} ${state}`);
  });
}

function phrasesOf({ since }: DisplayedState, words: string): readonly Phrase[] {
  return [words, ...relative("for", since)];
}

/** Returns `200`; `301 + 200` where the protocols of the row differ, with the details of each by its name. */
function testCell(test: Test | undefined, protocols: readonly DisplayedProtocol[]): Cell {
  if (test === undefined) return { state: "not tested from here" };
  const results = protocols.map((protocol) => resultOf(test, protocol));
  const isSame = results.every((each) => isEqual(each, results[0]));
  const told = isSame ? results.slice(0, 1) : results;
  return {
    sign: worstOf(results.map(({ level }) => level)),
    state: told.map(({ state }) => state).join(" + "),
    details: told.flatMap(({ details: [why, ...more] }, nth) => {
      if (why === undefined) return [];
      return [isSame || typeof why !== "string" ? why : `${protocols[nth] ?? ""} ${why}`, ...more];
    }),
  };
}

interface ShownResult {
  readonly level: Level;
  readonly state: string;
  readonly details: readonly Phrase[];
}

function resultOf(test: Test, protocol: DisplayedProtocol): ShownResult {
  const found = test.statuses?.find((one) => one.protocol === protocol);
  if (found === undefined) return { level: "unknown", state: "unknown", details: whyUnknown(test, protocol) };
  const { status, isUp, level, text } = found;
  const details = [...(status === 0 || isUp ? [] : ["down"]), ...(text === undefined ? [] : [text])];
  return { level, state: status === 0 ? "no response" : String(status), details };
}

/** Returns why the result is unknown: the test failed, did not run yet, or its answer lacks this protocol or a certain status for it. */
function whyUnknown(
  { poll: { state, reason, failingSince }, uncertain = [] }: Test,
  protocol: DisplayedProtocol,
): readonly Phrase[] {
  if (state === "pending") return ["not tested yet"];
  const found = uncertain.filter((one) => protocol === undefined || one.protocol === protocol);
  if (reason === undefined) return found.length === 0 ? ["not in the answer"] : found.map(({ text }) => text);
  return [reason.replaceAll("_", " "), ...relative("for", failingSince)];
}
