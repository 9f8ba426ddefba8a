import type { Sample, Series } from "./promtool-series.ts";

/** What goes wrong between the fleet and the rules: series as they should be scraped become series as they are. */
export type Disturbance = (series: readonly Series[]) => readonly Series[];

type Labels = Readonly<Record<string, string>>;

/** As Prometheus in Kubernetes labels what it scrapes, and appliances whose configured labels differ. */
export function scrapedFrom(pod: number): Disturbance {
  return map(({ labels, ...series }) => ({
    ...series,
    labels: { ...labels, ...scraperLabels(pod), ...configuredLabels(labels) },
  }));
}

function scraperLabels(pod: number): Labels {
  return {
    job: "monitoring/appliance-exporter",
    instance: `10.0.0.${pod}:10849`,
    namespace: "monitoring",
    pod: `appliance-exporter-${pod}`,
    container: "appliance-exporter",
    endpoint: "http",
    node: `node-${pod}`,
  };
}

function configuredLabels({ appliance, interface: name }: Labels): Labels {
  if (appliance === undefined) return {};
  return {
    rack: `rack of ${appliance}`,
    ...(name === undefined ? {} : { interface: `${name} of ${appliance}` }),
  };
}

/** One scrape in three is lost: Prometheus marks all series of the target as ended, and they come back. */
export function loseOneScrapeInThree(phase: number): Disturbance {
  return map(changeSamples((sample, index) => (index % 3 === phase && sample !== "_" ? "stale" : sample)));
}

/** The exporter is gone for some scrapes; its counters start anew. */
export function restart(fromScrape: number, scrapes: number): Disturbance {
  const back = fromScrape + scrapes;
  return map(({ metric, labels, samples }) => {
    const before = samples.slice(0, back).findLast((sample) => typeof sample === "number") ?? 0;
    const base = /_(total|bucket|count|sum)$/.test(metric) ? before : 0;
    const during = (sample: Sample, index: number): Sample => {
      if (index < fromScrape) return sample;
      if (index < back) return index === fromScrape ? "stale" : "_";
      return typeof sample === "number" ? sample - base : sample;
    };
    return { metric, labels, samples: samples.map(during) };
  });
}

/** Another exporter beside it, which polls the same fleet one scrape later. */
export function besideAnother(series: readonly Series[]): readonly Series[] {
  const later = series.map((each) => ({ ...each, samples: each.samples.slice(0, 1).concat(each.samples) }));
  return [...scrapedFrom(1)(series), ...scrapedFrom(2)(later)];
}

/** Another exporter beside it, which reaches no appliance. */
export function besideOneCutOff(series: readonly Series[]): readonly Series[] {
  return [...scrapedFrom(1)(series), ...scrapedFrom(2)(series.flatMap(cutOff))];
}

function cutOff(series: Series): readonly Series[] {
  const always = (value: number): readonly Series[] => [
    { ...series, samples: series.samples.map((sample) => (typeof sample === "number" ? value : sample)) },
  ];
  switch (series.metric) {
    case "appliance_up":
    case "appliance_poll_success":
      return [...always(0), ...always(1).map(failure)];
    case "vrrp_group_masters":
    case "vrrp_group_backups":
      return always(0);
    case "vrrp_group_unknown_members":
      return always(2);
    default:
      return [];
  }
}

function failure({ labels, samples }: Series): Series {
  const { operation = "vrrp" } = labels;
  const reason = operation === "vrrp" ? "timeout" : "appliance_down";
  return { metric: "appliance_poll_failure_info", labels: { ...labels, operation, reason }, samples };
}

/** The same events, scraped more often or more seldom. */
export function scrapedEvery(seconds: number, writtenFor: number): Disturbance {
  return map((series) => ({
    ...series,
    samples: Array.from(
      { length: Math.ceil((series.samples.length * writtenFor) / seconds) },
      (_, index) => series.samples[Math.floor((index * seconds) / writtenFor)] ?? "_",
    ),
  }));
}

/** One after the other. */
export function both(first: Disturbance, second: Disturbance): Disturbance {
  return (series) => second(first(series));
}

function map(change: (series: Series) => Series): Disturbance {
  return (series) => series.map(change);
}

function changeSamples(change: (sample: Sample, index: number) => Sample) {
  return (series: Series): Series => ({ ...series, samples: series.samples.map(change) });
}
