import { sleep } from "../support.ts";
import type { Member, Pair, Serving, Settings } from "./pair.ts";

/** The numbers of events at the pairs. */
export interface Tally {
  failovers: number;
  reboots: number;
  slowSpells: number;
  synchronizations: number;
  /** The numbers of real differences that were found, by what differs. */
  readonly found: Map<string, number>;
  /** Real differences that were not found, or found long after their end. */
  readonly wrong: string[];
}

/** A pair, and the state of the alert about it. */
export interface Watched extends Pair {
  /** Whether the members differ for longer than a synchronization takes, or did until the exporter could see the end. */
  differs: boolean;
  isInLosses: boolean;
  isFiring: boolean;
}

export interface PlayOptions {
  readonly tally: Tally;
  readonly endMs: number;
  readonly log: (text: string) => void;
}

/** The second poll of a list is up to one and a half intervals after the first, and a minute later with slow answers. */
const RECOVER_MS = 510_000;
/** The alert waits another two minutes. */
const FIND_MS = RECOVER_MS + 120_000;
/** The second look at a list is a minute after the first. */
const CALM_MS = { min: 90_000, max: 150_000 };
const DIFFERENCE_SHARE = 0.05;
const DISTURBED_SHARE = 0.5;
const WEBSITES = { min: 3, max: 8 };

/** Causes events at a pair until the end. */
export async function play(pair: Watched, options: PlayOptions): Promise<void> {
  const { tally, endMs, log } = options;
  while (performance.now() < endMs) {
    if (Math.random() < DIFFERENCE_SHARE && performance.now() + FIND_MS + RECOVER_MS < endMs) {
      await differ(pair, options);
    } else {
      const disturbance = Math.random() < DISTURBED_SHARE ? disturb(pair, tally, log) : undefined;
      await Promise.all([synchronize(pair, tally, log), disturbance]);
    }
    await sleep(between(CALM_MS.min, CALM_MS.max));
  }
}

type Change = (settings: Settings) => Settings;

/** Changes both members, one up to 30 s after the other. */
async function synchronize({ members, name }: Watched, tally: Tally, log: PlayOptions["log"]): Promise<void> {
  const [what, change] = pick(changesOf(members[0].settings));
  const order = Math.random() < 0.5 ? members : members.toReversed();
  const gapMs = between(1_000, 30_000);
  log(`${name}: ${what} at ${order[0]?.name}, ${(gapMs / 1_000).toFixed(0)} s later at the other`);
  await sleep(between(0, 30_000));
  for (const [nth, member] of order.entries()) {
    if (nth > 0) await sleep(gapMs);
    member.settings = change(member.settings);
  }
  tally.synchronizations += 1;
}

function changesOf({ websites }: Settings): readonly (readonly [string, Change])[] {
  const id = pick([...websites.keys()]);
  const unused = Array.from({ length: 200 }, (_, nth) => nth + 1).filter((each) => !websites.has(each));
  const alias = `192.0.2.${Math.floor(between(1, 90))}`;
  const added: Serving = { isEnabled: true, mode: "protect" };
  const all: (readonly [string, Change])[] = [
    ["a website is enabled or disabled", withServing(id, (old) => ({ ...old, isEnabled: !old.isEnabled }))],
    ["a website has another mode", withServing(id, (old) => ({ ...old, mode: otherMode(old) }))],
    ["aliases are set", (old) => ({ ...old, aliases: [alias] })],
  ];
  if (websites.size < WEBSITES.max) all.push(["a website is added", withServing(pick(unused), () => added)]);
  if (websites.size > WEBSITES.min) all.push(["a website is removed", without(id)]);
  return all;
}

function withServing(id: number, next: (old: Serving) => Serving): Change {
  return ({ websites, ...rest }) => {
    const old = websites.get(id) ?? { isEnabled: true, mode: "protect" };
    return { ...rest, websites: new Map([...websites, [id, next(old)]]) };
  };
}

function without(id: number): Change {
  return ({ websites, ...rest }) => {
    return { ...rest, websites: new Map([...websites].filter(([each]) => each !== id)) };
  };
}

function otherMode({ mode }: Serving): Serving["mode"] {
  return mode === "protect" ? "detect" : "protect";
}

/** Disturbs a pair as real ones are disturbed. Both members keep the same settings meanwhile. */
async function disturb({ members, name }: Watched, tally: Tally, log: PlayOptions["log"]): Promise<void> {
  const master = members.find(({ isMaster }) => isMaster) ?? members[0];
  const member = pick(members);
  await sleep(between(0, 45_000));
  const dice = Math.random();
  if (dice < 0.35) {
    log(`${name}: failover from ${master.name}`);
    await failover(members, 0);
    tally.failovers += 1;
  } else if (dice < 0.7) {
    log(`${name}: reboot of ${member.name}`);
    await reboot(members, member, tally);
  } else {
    const delayMs = between(500, 5_000);
    log(`${name}: ${member.name} answers ${delayMs.toFixed(0)} ms late`);
    member.setWay(delayMs);
    await sleep(between(30_000, 90_000));
    member.setWay(0);
    tally.slowSpells += 1;
  }
}

async function failover(members: Pair["members"], takesMs: number): Promise<void> {
  const [from, to] = members[0].isMaster ? members : members.toReversed();
  if (from !== undefined) from.isMaster = false;
  await sleep(takesMs);
  if (to !== undefined) to.isMaster = true;
}

async function reboot(members: Pair["members"], member: Member, tally: Tally): Promise<void> {
  const wasMaster = member.isMaster;
  member.setWay(Math.random() < 0.5 ? "off" : "silent");
  // VRRP waits for three adverts.
  if (wasMaster) await failover(members, 3_600);
  await sleep(between(20_000, 90_000));
  // A member answers before it reaches the servers.
  member.cutOff = new Set(member.settings.websites.keys());
  member.setWay(0);
  await sleep(between(0, 30_000));
  member.cutOff = new Set();
  tally.reboots += 1;
  if (wasMaster) tally.failovers += 1;
}

/** Lets the BACKUP lack something until the alert fires, and waits until the alert is over. */
async function differ(pair: Watched, { tally, log }: PlayOptions): Promise<void> {
  const backup = pair.members.find(({ isMaster }) => !isMaster) ?? pair.members[1];
  const { settings } = backup;
  const served = [...settings.websites]
    .filter(([, { isEnabled, mode }]) => isEnabled && mode === "protect")
    .map(([id]) => id);
  const id = served.length === 0 ? 0 : pick(served);
  const set = (change: Change) => () => void (backup.settings = change(settings));
  const kinds: (readonly [string, () => void])[] = [
    ["aliases are missing", set((old) => ({ ...old, aliases: [] }))],
    ["a website is missing", set(without(id))],
    ["a website is disabled", set(withServing(id, (old) => ({ ...old, isEnabled: false })))],
    ["a website is less protected", set(withServing(id, (old) => ({ ...old, mode: "detect" })))],
    ["a website is down", () => void (backup.cutOff = new Set([id]))],
  ];
  const [what, begin] = pick(served.length === 0 ? kinds.slice(0, 1) : kinds);
  log(`${pair.name}: ${what} at ${backup.name} for good`);
  pair.differs = true;
  begin();
  const foundMs = await waitedFor(() => pair.isFiring, FIND_MS);
  if (foundMs === undefined) tally.wrong.push(`not found: ${what} at ${backup.name}`);
  else tally.found.set(what, (tally.found.get(what) ?? 0) + 1);
  log(`${pair.name}: ${what}: found after ${seconds(foundMs)}`);
  backup.settings = settings;
  backup.cutOff = new Set();
  const endMs = await waitedFor(() => !pair.isInLosses, RECOVER_MS);
  if (endMs === undefined) tally.wrong.push(`its end was not seen: ${what} at ${backup.name}`);
  log(`${pair.name}: ${what}: its end seen after ${seconds(endMs)}`);
  pair.differs = false;
}

async function waitedFor(isSo: () => boolean, timeoutMs: number): Promise<number | undefined> {
  const startedMs = performance.now();
  for (;;) {
    const waitedMs = performance.now() - startedMs;
    if (isSo()) return waitedMs;
    if (waitedMs > timeoutMs) return undefined;
    await sleep(500);
  }
}

export function seconds(ms: number | undefined): string {
  return ms === undefined ? "never" : `${(ms / 1_000).toFixed(0)} s`;
}

function between(min: number, max: number): number {
  return min + Math.random() * (max - min);
}

function pick<T>(all: readonly T[]): T {
  const [picked] = all.slice(Math.floor(Math.random() * all.length));
  if (picked === undefined) throw new Error("nothing to pick from");
  return picked;
}
