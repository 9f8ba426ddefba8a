import type { ClusterDocument } from "../../status/schema.ts";
import { BACKEND_PROBLEMS, levelOf } from "../../status/severity.ts";
import { describeServer, listed } from "../../status/words.ts";
import { html, nothing, type Html } from "./html.ts";
import { emptyCell, inWords, row, stateCell } from "./parts.ts";

const NAMED_SERVERS = 12;

type Discovered = NonNullable<ClusterDocument["discovered"]>;
type Description = Discovered["websites"][number]["at"][string];

/** A row for each website that appliances list: how each of them protects it, and the servers behind it. */
export function discoveredRows({ discovered, appliances }: ClusterDocument): readonly Html[] {
  return (discovered?.websites ?? []).map(({ name, address, state, at, differences }) => {
    const level = levelOf(
      BACKEND_PROBLEMS[state ?? "ok"] ?? (differences.length > 0 ? "websites_differ" : undefined),
    );
    const differing = differences.length === 0 ? nothing : html`, differs: ${differences.join(", ")}`;
    return row({
      title: html`${name} <span class="aside">${address}</span>`,
      level,
      words: html`${state === undefined ? "servers unknown" : inWords(state)}${differing}`,
      cells: appliances.map((one) => descriptionCell(at[one.name])),
    });
  });
}

function descriptionCell(said: Description | undefined): Html {
  if (said === undefined) return emptyCell("not known here");
  const { isEnabled, mode = "unknown mode", backends = [] } = said;
  const failed = backends.filter(({ isOk, role }) => isOk === false && role !== "down");
  const servers = backends.length === 0 ? "no server" : listed(backends.map(describeServer), NAMED_SERVERS);
  return stateCell(
    failed.length > 0 ? "warning" : "well",
    isEnabled === false ? "disabled" : mode,
    html`${servers}`,
  );
}
