/** The field `for` of FailoverNotReady. */
const FOR_MS = 120_000;

/** An uninterrupted time in which the failover of an appliance would lose something. */
export interface Spell {
  readonly appliance: string;
  readonly sinceMs: number;
  /** The instant of the latest sample with such a loss. */
  untilMs: number;
  isFiring: boolean;
}

/** Evaluates the alert FailoverNotReady over samples of `/metrics`, without the conditions that silence it. */
export function createRule() {
  const spells = new Map<string, Spell>();
  return {
    /** Returns the spells of this sample, those that begin to fire, and those that are over. */
    add: (text: string, atMs: number) => {
      const appliances = new Set(lossesIn(text));
      const over = [...spells.values()].filter(({ appliance }) => !appliances.has(appliance));
      for (const { appliance } of over) spells.delete(appliance);
      const fired: Spell[] = [];
      for (const appliance of appliances) {
        const spell = spells.get(appliance) ?? { appliance, sinceMs: atMs, untilMs: atMs, isFiring: false };
        spells.set(appliance, spell);
        spell.untilMs = atMs;
        if (spell.isFiring || atMs - spell.sinceMs < FOR_MS) continue;
        spell.isFiring = true;
        fired.push(spell);
      }
      return { now: [...spells.values()], fired, over };
    },
  };
}

function lossesIn(text: string): readonly string[] {
  const found = text.matchAll(/^appliance_failover_state\{appliance="([^"]*)".*state="losses".*\} 1$/gm);
  return Array.from(found, ([, appliance = ""]) => appliance);
}

/** Returns `website_down pair-3-b website-2` for each loss of a failover from an appliance. */
export function lossesOf(text: string, appliance: string): readonly string[] {
  const found = text.matchAll(/^failover_risk_info\{(.*effect="loss".*)\} 1$/gm);
  return Array.from(found, ([, labels = ""]) => labels)
    .filter((labels) => labels.includes(`appliance="${appliance}"`))
    .map((labels) =>
      ["risk", "successor", "subject"].map((name) => labels.match(`${name}="([^"]*)"`)?.[1]).join(" "),
    );
}
