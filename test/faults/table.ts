import { readFileSync } from "node:fs";

const FAULTS_PAGE = new URL("../../docs/faults.md", import.meta.url);

/** One row of the table in docs/faults.md. */
interface TableRow {
  readonly fault: number;
  readonly links: readonly Link[];
}

interface Link {
  /** The name of a test. */
  readonly text: string;
  readonly file: URL;
}

export function readFaultTable(): readonly TableRow[] {
  const lines = readFileSync(FAULTS_PAGE, "utf8").matchAll(/^\| (\d+) \|.*\| ([^|]*) \|$/gm);
  return Array.from(lines, ([, fault, shownBy = ""]) => ({ fault: Number(fault), links: linksOf(shownBy) }));
}

function linksOf(text: string): readonly Link[] {
  return Array.from(text.matchAll(/\[([^\]]*)\]\(([^)]*)\)/g), ([, name = "", path = ""]) => {
    return { text: name, file: new URL(path, FAULTS_PAGE) };
  });
}
