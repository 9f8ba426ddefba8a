import type { ApplianceDocument, ClusterDocument } from "../../status/schema.ts";
import { levelOf, WEBSITE_PROBLEMS, type Level } from "../../status/severity.ts";
import { idAt } from "../../status/words.ts";
import { inWords } from "./parts.ts";
import { relative, type Cell, type Row, type Words } from "./row.ts";

type Website = ClusterDocument["websites"][number];
type State = Website["states"][number];
type Test = ApplianceDocument["websites"][number];

/** A row for each website and protocol; one for a website of which nothing is known. */
export function websiteRows({ websites, appliances }: ClusterDocument): readonly Row[] {
  return websites.flatMap((website) => {
    const tests = appliances.map((one) => one.websites.find((test) => test.id === idAt(website, one.name)));
    const found = tests.flatMap((test) => test?.statuses ?? []).map(({ protocol }) => protocol);
    const unjudged = found.length === 0 ? [{}] : Array.from(new Set(found), (protocol) => ({ protocol }));
    const states = website.states.length === 0 ? unjudged : website.states;
    return states.map((state) => websiteRow(website, state, tests));
  });
}

function websiteRow(
  website: Website,
  { protocol, state, since }: Partial<State>,
  tests: readonly (Test | undefined)[],
): Row {
  const level = state === undefined ? "unknown" : levelOf(WEBSITE_PROBLEMS[state]);
  return {
    title: website.name,
    aside: protocol,
    level,
    words: [inWords(state), ...relative("for", since)],
    cells: tests.map((test) => testCell(test, protocol, level)),
  };
}

function testCell(test: Test | undefined, protocol: State["protocol"], whole: Level): Cell {
  if (test === undefined) return { state: "not tested from here" };
  const found = test.statuses?.find((one) => one.protocol === protocol);
  if (found === undefined) return { sign: "unknown", state: "unknown", details: whyUnknown(test) };
  const state = found.status === 0 ? "no response" : String(found.status);
  if (found.isUp) return { sign: "well", state, details: ["up"] };
  const why = found.text === undefined ? "down" : `down: ${found.text}`;
  return { sign: whole === "warning" ? "warning" : "critical", state, details: [why] };
}

/** The test failed, did not run yet, or its answer lacks this protocol. */
function whyUnknown({ poll: { state, reason, failingSince } }: Test): readonly Words[] {
  if (state === "pending") return ["not tested yet"];
  if (reason === undefined) return ["not in the answer"];
  return [reason.replaceAll("_", " "), ...relative("for", failingSince)];
}
