import type { ClusterDocument } from "../../status/schema.ts";
import { BACKEND_PROBLEMS, levelOf } from "../../status/severity.ts";
import { describeServers } from "../../status/words.ts";
import { inWords } from "./parts.ts";
import type { Cell, Row } from "./row.ts";

type Discovered = NonNullable<ClusterDocument["discovered"]>;
type Description = Discovered["websites"][number]["at"][string];

/** A row for each website that appliances list: how each of them protects it, and the servers behind it. */
export function discoveredRows({ discovered, appliances }: ClusterDocument): readonly Row[] {
  return (discovered?.websites ?? []).map(({ name, address, state, at, differences }) => {
    const differ = differences.length > 0 ? "websites_differ" : undefined;
    const servers = state === undefined ? "servers unknown" : inWords(state);
    return {
      title: name,
      aside: address,
      level: levelOf(BACKEND_PROBLEMS[state ?? "ok"] ?? differ),
      words: [differ === undefined ? servers : `${servers}, differs: ${differences.join(", ")}`],
      cells: appliances.map((one) => descriptionCell(at[one.name])),
    };
  });
}

function descriptionCell(said: Description | undefined): Cell {
  if (said === undefined) return { state: "not known here" };
  const { isEnabled, mode = "unknown mode", backends } = said;
  const isFailing = backends?.some(({ isOk, role }) => isOk === false && role !== "down") === true;
  return {
    sign: isFailing ? "warning" : "well",
    state: isEnabled === false ? "disabled" : mode,
    details: [describeServers(backends)],
  };
}
