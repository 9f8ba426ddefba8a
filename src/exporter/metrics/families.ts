import type { ClusterIncidents } from "../story/incident.ts";
import { elsewhereRisks } from "../judge/judge-windows.ts";
import type { Problem } from "../judge/problem.ts";
import { alertOf, FAILOVER_ADVICE, PROBLEM_OF } from "../judge/states.ts";
import type { ReadinessVerdict, WindowVerdict } from "../judge/verdict.ts";
import { shortened } from "../judge/words.ts";
import { groupBy } from "../../support/group-by.ts";
import { keysOf } from "../../support/keys.ts";
import { FACT_FAMILIES } from "./fact-families.ts";
import {
  asSeconds,
  counter,
  gauge,
  sample,
  stateSamples,
  type Families,
  type Labels,
  type PartOfKind,
  type Sample,
} from "./family.ts";

const JUDGED = "Judged from the latest polls, not from the scrape.";
const STATE = `1 for the present one, 0 for the others. ${JUDGED}`;
const SINCE = `as Unix time; absent where the exporter did not see the beginning. ${JUDGED}`;

const WEBSITE_STATES = keysOf(PROBLEM_OF.website);
const CLUSTER_STATES = keysOf(PROBLEM_OF.cluster);
const BACKEND_STATES = keysOf(PROBLEM_OF.backends);
/** The states that can occur where a website is at one member, in a cluster of one, and of a website that nobody tests. */
const AT_ONE_MEMBER = WEBSITE_STATES.filter((state) => state !== "down_at_master");
const OF_ONE_MEMBER = CLUSTER_STATES.filter((state) => state !== "degraded");
const OF_UNTESTED = BACKEND_STATES.filter((state) => state !== "none_usable_but_up");

/** All metric families of the fleet. Names and labels are a contract: docs/reference/metrics.md. */
export const FLEET_FAMILIES: Families = {
  ...FACT_FAMILIES,
  vrrp_group_state: gauge(`State of the VRRP group: ${STATE}`, {
    group: (group) => stateSamples(keysOf(PROBLEM_OF.group), group.state),
  }),
  vrrp_group_master: gauge(
    `1 for the one known MASTER of the VRRP group; absent unless there is one. ${JUDGED}`,
    { group: (group) => (group.master === undefined ? [] : sample(1, ["appliance", group.master])) },
  ),
  vrrp_group_state_since_timestamp_seconds: gauge(`When the state of the VRRP group began, ${SINCE}`, {
    group: (group) => (group.state === undefined ? [] : sample(asSeconds(group.sinceMs))),
  }),
  website_state: gauge(`State of the website for its visitors: ${STATE}`, {
    website: ({ key, states, at }) =>
      states.flatMap((each) =>
        stateSamples(
          at.length > 1 ? WEBSITE_STATES : AT_ONE_MEMBER,
          each.state,
          ["address", key],
          ["protocol", each.protocol],
        ),
      ),
  }),
  website_state_since_timestamp_seconds: gauge(`When the state of the website began, ${SINCE}`, {
    website: (site) =>
      site.states.flatMap((each) =>
        each.state === undefined ? [] : sample(asSeconds(each.sinceMs), ["protocol", each.protocol]),
      ),
  }),
  appliance_enabled: gauge(
    "Whether the appliance is enabled in the configuration; if not, it is not polled.",
    {
      appliance: () => sample(true),
      disabled: () => sample(false),
    },
  ),
  appliance_state: gauge(`State of the appliance: ${STATE}`, {
    appliance: ({ state }) => stateSamples(keysOf(PROBLEM_OF.appliance), state),
  }),
  appliance_state_since_timestamp_seconds: gauge(`When the state of the appliance began, ${SINCE}`, {
    appliance: ({ sinceMs }) => sample(asSeconds(sinceMs)),
  }),
  appliance_tls_certificate_state: gauge(
    `State of the certificate that the appliance last presented, with its chain: ${STATE}`,
    {
      appliance: ({ certificate }) => stateSamples(keysOf(PROBLEM_OF.certificate), certificate),
    },
  ),
  ha_cluster_state: gauge(`State of the cluster: ${STATE}`, {
    cluster: ({ state, appliances }) =>
      stateSamples(appliances.size > 1 ? CLUSTER_STATES : OF_ONE_MEMBER, state),
  }),
  appliance_failover_state: gauge(
    `What would happen if the appliance stopped now; absent if it is MASTER of no group: ${STATE}`,
    { readiness: ({ state }) => stateSamples(keysOf(PROBLEM_OF.readiness), state) },
  ),
  failover_risk_info: gauge(
    `1 for each risk of a failover from the appliance, the worst 50; one with the subject more stands for the others. ${JUDGED}`,
    { readiness: riskSamples, planned: elsewhereSamples },
  ),
  ha_cluster_failovers_total: counter(
    `Failovers of the cluster since the exporter started, by cause: groups that one appliance took over from another. ${JUDGED}`,
    {
      incidents: ({ failovers = {} }) =>
        Object.entries(failovers).flatMap(([cause, count]) => sample(count, ["cause", cause])),
    },
  ),
  ha_cluster_last_failover_timestamp_seconds: gauge(
    `When the latest failover of the cluster was seen, as Unix time; absent before the first. ${JUDGED}`,
    { incidents: ({ lastFailoverAt }) => sample(asSeconds(lastFailoverAt?.wallMs)) },
  ),
  ha_cluster_failover_info: gauge(
    `1 for each failover of the last five minutes, with its cause and the id of its incident. ${JUDGED}`,
    { incidents: failoverSamples },
  ),
  ha_cluster_planned: gauge(
    `1 for each alert that planned work mutes now; appliance: where the alert is about one. ${JUDGED}`,
    {
      incidents: mutedSamples,
      planned: mutedSamples,
    },
  ),
  ha_cluster_problem: gauge(
    `1 for each problem of the cluster that is not planned; with the kind, subject identifies it. ${JUDGED}`,
    { told: ({ problems }) => firstOfEach(problems, 1).flatMap(problemSamples) },
  ),
  ha_cluster_problem_since_timestamp_seconds: gauge(`When the problem began, ${SINCE}`, {
    told: ({ problems, failovers }) => [
      ...firstOfEach(problems, 1).flatMap((problem) =>
        problem.since === undefined
          ? []
          : sample(asSeconds(Date.parse(problem.since)), ...identityOf(problem)),
      ),
      ...Array.from(new Map(failovers.map(({ to, incident }) => [to, incident.begin])), ([subject, begin]) =>
        sample(asSeconds(Date.parse(begin)), ["kind", "failover"], ["subject", subject]),
      ).flat(),
    ],
  }),
  ha_cluster_problem_words_info: gauge(
    `1 for the sentence about each of these problems, and about each failover of the last five minutes, whose subject is the new MASTER. ${JUDGED}`,
    { told: wordsSamples },
  ),
  website_backends_state: gauge(`State of the servers behind the website: ${STATE}`, {
    website: ({ backends, states, key }) =>
      stateSamples(states.length > 0 ? BACKEND_STATES : OF_UNTESTED, backends, ["address", key]),
  }),
};

function mutedSamples({ muted }: Pick<WindowVerdict, "muted">): readonly Sample[] {
  return muted.flatMap(({ alert, appliance }) =>
    sample(1, ...(appliance === "" ? [] : [["appliance", appliance] as const]), ["alert", alert]),
  );
}

function elsewhereSamples(planned: WindowVerdict): readonly Sample[] {
  const members = new Set(planned.elsewhere.map(({ identity }) => identity));
  return [...members].flatMap(({ appliance, labels }) => {
    const own = Object.entries(labels).filter(([name]) => !Object.hasOwn(planned.labels, name));
    return elsewhereRisks(planned, appliance).flatMap(({ successor, risk, effect, subject }) =>
      sample(
        1,
        ...Object.entries({ appliance, ...Object.fromEntries(own), successor, risk, effect, subject }),
      ),
    );
  });
}

function failoverSamples({ recent }: ClusterIncidents): readonly Sample[] {
  return recent.flatMap(({ id, failover }) => {
    if (failover === undefined) return [];
    const { from, to, causes } = failover.latest;
    const [{ cause }] = causes;
    return sample(1, ["from", from], ["to", to], ["cause", cause], ["incident", id]);
  });
}

function identityOf({ kind, subject = "" }: Problem): Labels {
  return [
    ["kind", kind],
    ["subject", subject],
  ];
}

function problemSamples(problem: Problem): readonly Sample[] {
  const { kind, severity, subject, appliance, website } = problem;
  const about = {
    alert: alertOf(kind),
    severity,
    appliance,
    website_id: website && String(website.id),
    website: website?.name,
    address: website && subject,
  };
  return sample(1, ...identityOf(problem), ...labelsIn(about));
}

function wordsSamples({ problems, failovers }: PartOfKind<"told">): readonly Sample[] {
  const about = firstOfEach(problems, SENTENCES).map((each) => {
    const { summary, advice, incident } = each;
    return [
      ...identityOf(each),
      ...labelsIn({ summary: inLabel(summary), advice: inLabel(advice), incident }),
    ];
  });
  const failed = failovers.map(({ to: subject, incident: { id: incident, summary } }) =>
    labelsIn({ kind: "failover", subject, summary: inLabel(summary), advice: FAILOVER_ADVICE, incident }),
  );
  // Two that are cut may be the same.
  const texts = new Map([...about, ...failed].map((labels) => [JSON.stringify(labels), labels]));
  return [...texts.values()].flatMap((labels) => sample(1, ...labels));
}

/** The most sentences about one problem. */
const SENTENCES = 3;
/** Names that appliances give may be long. */
const LONGEST_SENTENCE = 500;
const inLabel = (sentence: string): string => shortened(sentence, LONGEST_SENTENCE);

/** Returns the first problems of each identity: an appliance may have a thousand groups that are in the same trouble for different reasons. */
function firstOfEach<Of extends Problem>(problems: readonly Of[], most: number): readonly Of[] {
  const alike = groupBy(problems, (each) => JSON.stringify(identityOf(each)));
  const first = new Set([...alike.values()].flatMap((all) => all.slice(0, most)));
  return problems.filter((each) => first.has(each));
}

/** Returns the labels that have a value. */
function labelsIn(given: Readonly<Record<string, string | undefined>>): Labels {
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
}

function riskSamples({ risks, more }: ReadinessVerdict): readonly Sample[] {
  const all = [
    ...risks,
    ...(more === undefined ? [] : [{ ...more.worst, successor: "", subject: "more", key: "" }]),
  ];
  // Two subjects may be the same, since appliances give names to websites.
  const labelled = all.map(({ successor, risk, effect, subject, key }) => {
    const address = risk.startsWith("website_") && key !== "" ? { address: key } : {};
    const labels = Object.entries({ successor, risk, effect, subject, ...address });
    return [JSON.stringify(labels), sample(1, ...labels)] as const;
  });
  return [...new Map(labelled).values()].flat();
}
