/** What screen readers hear about at once. */
const MAX_ANNOUNCED = 4;

/** What the page shows, as far as changes of it are announced. */
export interface Content {
  readonly headline: string;
  /** Ids of all problems, whether they are shown or not. */
  readonly problems: ReadonlySet<string>;
  /** Texts of the problems and events that are shown, by id. */
  readonly texts: ReadonlyMap<string, string>;
}

/** The headline if it changed, then what is new, then the problems that are gone. Empty if nothing changed. */
export function describeChanges(before: Content, after: Content): string {
  const added = [...after.texts].filter(([id]) => !before.texts.has(id) && !before.problems.has(id));
  const gone = [...before.texts].filter(([id]) => before.problems.has(id) && !after.problems.has(id));
  const changes = new Set([
    ...added.map(([, text]) => text),
    ...gone.map(([, text]) => `No longer: ${text}`),
  ]);
  const others = changes.size - MAX_ANNOUNCED;
  const sentences = [
    ...(after.headline === before.headline ? [] : [after.headline]),
    ...[...changes].slice(0, MAX_ANNOUNCED),
    ...(others > 0 ? [`${others} more change${others === 1 ? "" : "s"}`] : []),
  ];
  return sentences.map((sentence) => `${sentence}.`).join(" ");
}
