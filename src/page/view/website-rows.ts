import type { ApplianceDocument, ClusterDocument } from "../../status/schema.ts";
import { levelOf, WEBSITE_PROBLEMS, type Level } from "../../status/severity.ts";
import { idAt } from "../../status/words.ts";
import { html, nothing, type Html } from "./html.ts";
import { emptyCell, inWords, relative, row, stateCell, type Reader } from "./parts.ts";

type Website = ClusterDocument["websites"][number];
type State = Website["states"][number];
type Test = ApplianceDocument["websites"][number];

/** A row for each website and protocol; one for a website of which nothing is known. */
export function websiteRows({ websites, appliances }: ClusterDocument, reader: Reader): readonly Html[] {
  return websites.flatMap((website) => {
    const states = website.states.length === 0 ? [undefined] : website.states;
    return states.map((state) => websiteRow(website, state, appliances, reader));
  });
}

function websiteRow(
  website: Website,
  judged: State | undefined,
  appliances: readonly ApplianceDocument[],
  reader: Reader,
): Html {
  const { protocol, state, since } = judged ?? {};
  const level = state === undefined ? "unknown" : levelOf(WEBSITE_PROBLEMS[state]);
  const tests = appliances.map((one) => one.websites.find((test) => test.id === idAt(website, one.name)));
  return row({
    title: html`${website.name}
    ${protocol === undefined ? nothing : html`<span class="aside">${protocol}</span>`}`,
    level,
    words: html`${inWords(state)} ${relative("for", since, reader)}`,
    cells: tests.map((test) => testCell(test, protocol, level, reader)),
  });
}

function testCell(test: Test | undefined, protocol: State["protocol"], whole: Level, reader: Reader): Html {
  if (test === undefined) return emptyCell("not tested from here");
  const found = test.statuses?.find((one) => one.protocol === protocol);
  if (found === undefined) return unknownCell(test, reader);
  const code = found.status === 0 ? "no response" : String(found.status);
  if (found.isUp) return stateCell("well", code, html`up`);
  const details = html`down${found.text === undefined ? nothing : html`: ${found.text}`}`;
  return stateCell(whole === "warning" ? "warning" : "critical", code, details);
}

/** Why nothing is known: the test failed, did not run yet, or its answer lacks this protocol. */
function unknownCell({ poll: { state, reason, failingSince } }: Test, reader: Reader): Html {
  if (state === "pending") return stateCell("unknown", "unknown", html`not tested yet`);
  if (reason === undefined) return stateCell("unknown", "unknown", html`not in the answer`);
  const since = relative("for", failingSince, reader);
  return stateCell("unknown", "unknown", html`${reason.replaceAll("_", " ")} ${since}`);
}
