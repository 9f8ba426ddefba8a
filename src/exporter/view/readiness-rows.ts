import type { ApplianceDocument, ReadinessDocument } from "../document/schema.ts";
import { LEVELS } from "../judge/states.ts";
import { shortened } from "../judge/words.ts";
import { count, listedBriefly } from "../../support/text.ts";
import type { Cell, Row } from "./row.ts";
import { relative } from "./time.ts";
import { inWords } from "./words.ts";

/** The length in UTF-16 units, since a line of the page has other facts too. */
const MAX_LINE = 120;

/**
 * Returns the text for the line of a cluster: `b can take over`, or the sentence about the worst failover, shortened; nothing without a
 * failover.
 */
export function readinessLine(appliances: readonly ApplianceDocument[]): readonly string[] {
  const all = appliances.flatMap(({ failover }) => failover ?? []);
  const [worst] = all.toSorted((one, other) => LEVELS.indexOf(other.level) - LEVELS.indexOf(one.level));
  if (worst === undefined) return [];
  if (worst.level !== "well") return [shortened(worst.summary, MAX_LINE)];
  const successors = new Set(all.flatMap((each) => each.successors));
  return [`${listedBriefly([...successors])} can take over`];
}

/**
 * Returns, for each appliance that is MASTER of a group, a row that says who takes over if it fails, and one row for each risk, worst
 * first.
 */
export function readinessRows(appliances: readonly ApplianceDocument[]): readonly Row[] {
  return appliances.flatMap(({ name, failover }) => {
    if (failover === undefined) return [];
    const risks = failover.risks.map((risk) => riskRow(risk, name, appliances));
    return [readinessRow(failover, name, appliances), ...risks];
  });
}

function readinessRow(
  failover: ReadinessDocument,
  master: string,
  appliances: readonly ApplianceDocument[],
): Row {
  const { state, level, since, successors, addresses, websites, leftOut, moreRisks } = failover;
  const amounts = [
    count(addresses, "address", "addresses"),
    ...(websites === 0 ? [] : [count(websites, "website")]),
  ];
  const notes = [
    ...(leftOut === undefined ? [] : [`${count(leftOut, "website")} not compared`]),
    ...(moreRisks === undefined ? [] : [`${count(moreRisks, "more risk")} not shown`]),
  ];
  const takesAll = state === "ready" && successors.length === 1;
  const cells = appliances.map(({ name }): Cell => {
    if (name === master) return { sign: level, state: "MASTER", details: [...amounts, ...notes] };
    if (!successors.includes(name)) return { state: "not known to take over" };
    const takes = takesAll ? { state: "takes over", details: amounts } : { state: "can take over" };
    return { sign: "backup", ...takes };
  });
  return { title: `If ${master} fails`, level, words: [inWords(state), ...relative("for", since)], cells };
}

function riskRow(
  { risk, level, successor, subject, summary, seenAt }: ReadinessDocument["risks"][number],
  master: string,
  appliances: readonly ApplianceDocument[],
): Row {
  const concerned: Cell = { sign: level, state: inWords(risk), details: relative("seen", seenAt) };
  const cells = appliances.map(({ name }) => (name === (successor ?? master) ? concerned : { state: "" }));
  return { title: subject, level, words: [summary], cells };
}
