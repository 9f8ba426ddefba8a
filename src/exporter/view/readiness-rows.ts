import type { ApplianceDocument, ReadinessDocument } from "../document/schema.ts";
import { LEVELS } from "../judge/states.ts";
import { count, listedBriefly } from "../../support/text.ts";
import { keyList, type Cell, type Row } from "./row.ts";
import { relative } from "./time.ts";
import { inWords } from "./words.ts";

/** Who would take over from the masters of a cluster. */
export interface Succession {
  /** The names of those who would; `?` if that is not known, `nobody` if nobody would. */
  readonly names: string;
  /** The sentence about the worst failover; empty while all would be well. */
  readonly summary: string;
}

/** Returns who would take over if a master failed, by the worst such failover; `undefined` if none is judged. */
export function successionOf(appliances: readonly ApplianceDocument[]): Succession | undefined {
  const all = appliances.flatMap(({ failover }) => failover ?? []);
  const [worst] = all.toSorted((one, other) => LEVELS.indexOf(other.level) - LEVELS.indexOf(one.level));
  if (worst === undefined) return undefined;
  const { state, summary } = worst;
  const successors = new Set(all.flatMap((each) => each.successors));
  if (state === "ready") return { names: listedBriefly([...successors]), summary: "" };
  if (state === "losses") return { names: `${listedBriefly([...successors])}, with losses`, summary };
  return { names: state === "unknown" ? "?" : "nobody", summary };
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
  const { key, state, level, since, successors, addresses, websites, leftOut, moreRisks } = failover;
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
  const words = [inWords(state), ...relative("for", since)];
  return { title: `If ${master} fails`, level, keys: keyList(key), words, cells };
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
