import type { RangeHistory, SubjectHistory } from "./history.ts";

/** The clusters that a report is about: those with these names and all these labels; empty for all. */
export interface ReportSelection {
  readonly clusters: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the part of a history that is about some clusters. */
export function selected(history: RangeHistory, selection: ReportSelection): RangeHistory {
  const { clusters, labels } = selection;
  if (clusters.length + Object.keys(labels).length === 0) return history;
  const names = new Set(clustersIn(history).filter((name) => isSelected(name, history, selection)));
  const subjects = [...history.subjects].filter(([, { record }]) => names.has(record.cluster));
  const members = new Set(
    subjects.flatMap(([, { record }]) => (record.kind === "appliance" ? record.appliance : [])),
  );
  return {
    ...history,
    subjects: new Map(subjects),
    failovers: new Map([...history.failovers].filter(([, { cluster }]) => names.has(cluster))),
    windows: new Map(
      [...history.windows].flatMap(([id, window]) => {
        const wanted = Object.entries(window.labels);
        // Labels may be those of one member alone.
        const own = [
          ...Array.from(names, (name) => history.labels.get(name)),
          ...Array.from(members, (name) => history.memberLabels.get(name)),
        ];
        const isByLabels = wanted.length > 0 && own.some((each) => hasLabels(each, wanted));
        // The others that are worked on may be those of another customer.
        const part = {
          ...window,
          clusters: window.clusters.filter((name) => names.has(name)),
          appliances: window.appliances.filter((name) => members.has(name)),
          labels: isByLabels ? window.labels : {},
        };
        const isOwn = isByLabels || part.clusters.length + part.appliances.length > 0;
        return isOwn ? [[id, part] as const] : [];
      }),
    ),
  };
}

/** Returns the names of the clusters that a history has. */
export function clustersIn({ subjects }: RangeHistory): readonly string[] {
  return [...new Set(Array.from(subjects.values(), ({ record }: SubjectHistory) => record.cluster))];
}

function isSelected(name: string, history: RangeHistory, { clusters, labels }: ReportSelection): boolean {
  const isNamed = clusters.length === 0 || clusters.includes(name);
  return isNamed && hasLabels(history.labels.get(name), Object.entries(labels));
}

function hasLabels(
  own: Readonly<Record<string, string>> = {},
  wanted: readonly (readonly [string, string])[],
): boolean {
  return wanted.every(([label, value]) => Object.hasOwn(own, label) && own[label] === value);
}
