import { PROTOCOLS } from "../api/website-test.ts";
import { once } from "../../support/kept.ts";
import { keysOf } from "../../support/keys.ts";
import type { SubjectKind } from "./states.ts";
import type {
  ApplianceVerdict,
  ClusterVerdict,
  ReadinessVerdict,
  GroupVerdict,
  ProtocolVerdict,
  WebsiteVerdict,
} from "./verdict.ts";

/** A part of a cluster that is in a state. */
interface SubjectWith<Kind extends SubjectKind, Verdict extends { readonly state: string | undefined }> {
  readonly kind: Kind;
  /** The key, unique in the cluster, and the same in every verdict. @see subjectKeys */
  readonly key: string;
  /** The state; `undefined` before it is judged. */
  readonly state: Verdict["state"];
  /** The Unix time in milliseconds at which the state began; `undefined` if this process did not see the beginning. */
  readonly sinceMs: number | undefined;
  readonly verdict: Verdict;
}

export type JudgedSubject =
  | SubjectWith<"cluster", ClusterVerdict>
  | SubjectWith<"appliance", ApplianceVerdict>
  | SubjectWith<"group", GroupVerdict>
  | SubjectWith<"readiness", ReadinessVerdict>
  | (SubjectWith<"website", ProtocolVerdict> & { readonly website: WebsiteVerdict });

export type SubjectOf<Kind extends SubjectKind> = Extract<JudgedSubject, { readonly kind: Kind }>;

export const subjectKeys = {
  cluster: "cluster",
  appliance: (name: string) => `appliance ${name}`,
  /** `key` is the `groupKey`. */
  group: (key: string) => `group ${key}`,
  /** `name` is the appliance whose readiness is judged. */
  readiness: (name: string) => `readiness ${name}`,
  /** `address` is the `key` of the website, which has a state for each protocol. */
  website: (protocol: string, address: string) => `website ${protocol} ${address}`,
  /** The servers behind a website, by the `key` of the website. */
  backends: (address: string) => `backends ${address}`,
  /** The name of the appliance is quoted, as it may have spaces. @see interfaceName */
  interface: (appliance: string, name: string) => `${interfacesOf(appliance)}${name}`,
} as const;

/** Returns the prefix of the keys of all interfaces of an appliance, and of no other keys. */
export function interfacesOf(appliance: string): string {
  return `interface ${JSON.stringify(appliance)} `;
}

/** Returns the keys of a website: of its states, or else of each protocol. */
export function websiteKeys({ key, states }: Pick<WebsiteVerdict, "key" | "states">): string[] {
  const known = states.map(({ protocol }) => protocol);
  return (known.length === 0 ? PROTOCOLS.both : known).map((each) => subjectKeys.website(each, key));
}

/** A subject that differs between two verdicts on a cluster. */
export interface Difference {
  /** The subject as it was; `undefined` if it is new. */
  readonly before: JudgedSubject | undefined;
  /** The subject as it is; `undefined` if it is gone. */
  readonly now: JudgedSubject | undefined;
}

/** The subjects of one kind. */
interface Table {
  readonly subjectsIn: (verdict: ClusterVerdict) => readonly JudgedSubject[];
  readonly differences: (
    before: ClusterVerdict | undefined,
    now: ClusterVerdict | undefined,
    isEach: boolean,
  ) => Difference[];
}

const TABLES: Readonly<Record<SubjectKind, Table>> = {
  cluster: table(
    (whole) => new Map([["", whole]]),
    (verdict) => [
      { kind: "cluster", key: subjectKeys.cluster, state: verdict.state, sinceMs: undefined, verdict },
    ],
  ),
  appliance: table(
    ({ appliances }) => appliances,
    (verdict) => {
      const { identity, state, sinceMs } = verdict;
      return [{ kind: "appliance", key: subjectKeys.appliance(identity.appliance), state, sinceMs, verdict }];
    },
  ),
  group: table(
    ({ groups }) => groups,
    (verdict) => {
      const { facts, state, sinceMs } = verdict;
      return [{ kind: "group", key: subjectKeys.group(facts.key), state, sinceMs, verdict }];
    },
  ),
  readiness: table(
    ({ readiness }) => readiness,
    (verdict) => {
      const { identity, state, sinceMs } = verdict;
      return [{ kind: "readiness", key: subjectKeys.readiness(identity.appliance), state, sinceMs, verdict }];
    },
  ),
  website: table(
    ({ websites }) => websites,
    (website) =>
      website.states.map((verdict) => {
        const { protocol, state, sinceMs } = verdict;
        const key = subjectKeys.website(protocol, website.key);
        return { kind: "website", key, state, sinceMs, verdict, website };
      }),
  ),
};

/** The kinds of subjects, in the order of the journal's lines. */
export const SUBJECT_KINDS = keysOf(TABLES);

/** Returns everything in a cluster that has a state, by key. */
export const subjectsIn = once((verdict: ClusterVerdict): ReadonlyMap<string, JudgedSubject> => {
  const all = Object.values(TABLES).flatMap((each) => each.subjectsIn(verdict));
  return new Map(all.map((subject) => [subject.key, subject]));
});

/**
 * Returns the subjects of one kind whose verdicts are not the same objects: those of `now` in their order, then those that are gone. With
 * `isEach`, returns all subjects of the kind. Incidents and records follow from these differences.
 */
export function differencesBetween(
  kind: SubjectKind,
  before: ClusterVerdict | undefined,
  now: ClusterVerdict | undefined,
  isEach = false,
): readonly Difference[] {
  return TABLES[kind].differences(before, now, isEach);
}

/** Makes subjects only of verdicts that differ, since an appliance may have a thousand, and most stay the same. */
function table<Verdict>(
  verdictsIn: (whole: ClusterVerdict) => ReadonlyMap<string, Verdict>,
  subjectsOf: (verdict: Verdict) => readonly JudgedSubject[],
): Table {
  return {
    subjectsIn: (whole) => [...verdictsIn(whole).values()].flatMap(subjectsOf),
    differences: (before, now, isEach) => {
      const [known, found] = [before && verdictsIn(before), now && verdictsIn(now)];
      if (known === found && !isEach) return [];
      const changed: Difference[] = [];
      const gone: Difference[] = [];
      const compare = (verdict: Verdict | undefined, other: Verdict | undefined): void => {
        const old = verdict === undefined ? [] : subjectsOf(verdict);
        const fresh = other === undefined ? [] : subjectsOf(other);
        for (const each of fresh)
          changed.push({ before: old.find(({ key }) => key === each.key), now: each });
        for (const each of old)
          if (fresh.every(({ key }) => key !== each.key)) gone.push({ before: each, now: undefined });
      };
      for (const [key, verdict] of found ?? []) {
        const old = known?.get(key);
        if (isEach || old !== verdict) compare(old, verdict);
      }
      for (const [key, verdict] of known ?? []) if (found?.has(key) !== true) compare(verdict, undefined);
      return [...changed, ...gone];
    },
  };
}
