import { createServer } from "node:http";
import { once } from "node:events";
import { portOf } from "../../support/fault-server.ts";

/** What is true of a pair of appliances, from an instant on. */
export interface Moment {
  /** Unix time in milliseconds. */
  readonly atMs: number;
  /** The members that are MASTER. */
  readonly masters: readonly string[];
  /** The members that answer. */
  readonly answering: readonly string[];
  /** The websites that both members find up. */
  readonly upIds: readonly number[];
}

/** A cluster of the members `a` and `b` with one VRRP group. */
interface Pair {
  readonly name: string;
  /** What was true of it, oldest first. */
  readonly moments: Moment[];
}

/** What was true of each cluster, by its name, oldest first. */
export type Truth = ReadonlyMap<string, readonly Moment[]>;

/** Pairs of appliances that change at random, and the truth about them. */
export interface RandomFleet {
  /** The part of a configuration that names them. */
  readonly clusters: readonly unknown[];
  readonly truth: Truth;
  stop(): Promise<void>;
}

interface RandomFleetOptions {
  readonly pairs: number;
  /** Of each pair. */
  readonly websites: number;
}

const MEMBERS = ["a", "b"];
const PRIORITIES: Readonly<Record<string, string>> = { a: "204", b: "104" };
/** The mean time between two changes of a pair. Every second pair is calm. */
const RESTLESS_MS = 8_000;
const CALM_MS = 60_000;

/** Starts pairs whose first member is MASTER, and which serve all of their websites. */
export async function startRandomFleet({ pairs: count, websites }: RandomFleetOptions): Promise<RandomFleet> {
  const ids = Array.from({ length: websites }, (_, index) => index + 1);
  const first: Moment = { atMs: Date.now(), masters: ["a"], answering: MEMBERS, upIds: ids };
  const pairs = Array.from({ length: count }, (_, nth): Pair => ({ name: `pair-${nth}`, moments: [first] }));
  const byName = new Map(pairs.map((pair) => [pair.name, pair]));
  const server = createServer(({ url = "" }, response) => {
    const [, name = "", member = "", path = ""] = /^\/([^/]+)\/([^/]+)\/api\/v1\/(.*)$/.exec(url) ?? [];
    const moment = byName.get(name)?.moments.at(-1) ?? first;
    if (moment.answering.includes(member)) response.end(JSON.stringify(answerOf(path, member, moment)));
    else response.socket?.resetAndDestroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const timers = new Map<Pair, NodeJS.Timeout>();
  const changeLater = (pair: Pair, nth: number): void => {
    const meanMs = nth % 2 === 0 ? RESTLESS_MS : CALM_MS;
    const change = (): void => {
      pair.moments.push({ ...changed(pair.moments.at(-1) ?? first, ids), atMs: Date.now() });
      changeLater(pair, nth);
    };
    timers.set(pair, setTimeout(change, -Math.log(1 - Math.random()) * meanMs));
  };
  for (const [nth, pair] of pairs.entries()) changeLater(pair, nth);
  return {
    clusters: pairs.map(({ name }) => ({
      name,
      websites: ids,
      appliances: MEMBERS.map((member) => ({
        name: `${name}-${member}`,
        base_url: `http://127.0.0.1:${portOf(server)}/${name}/${member}`,
        allow_http: true,
      })),
    })),
    truth: new Map(pairs.map(({ name, moments }) => [name, moments])),
    stop: async () => {
      for (const timer of timers.values()) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerOf(path: string, member: string, { masters, upIds }: Moment): unknown {
  const [, id] = /^website\/(\d+)\/test$/.exec(path) ?? [];
  if (id !== undefined) {
    const status = upIds.includes(Number(id)) ? "200 OK" : "503 Service Unavailable";
    return `HTTP CONNECT ----- HTTP\nHTTP/1.1 ${status}\n\n`;
  }
  const state_current = masters.includes(member) ? "MASTER" : "BACKUP";
  return { carp0: { vhid: "1", vip: "192.0.2.100", state_current, priority: PRIORITIES[member] } };
}

/** Failovers are most frequent; contradictions, and members that do not answer, mostly end with the next change. */
function changed(moment: Moment, ids: readonly number[]): Moment {
  const { masters, answering, upIds } = moment;
  const dice = Math.random();
  if (dice < 0.25 && ids.length > 0) {
    const id = ids[Math.floor(Math.random() * ids.length)] ?? 1;
    return { ...moment, upIds: upIds.includes(id) ? upIds.filter((each) => each !== id) : [...upIds, id] };
  }
  if (dice < 0.4) return { ...moment, masters: dice < 0.32 ? MEMBERS : [] };
  if (dice < 0.5) return { ...moment, answering: dice < 0.42 ? [] : [dice < 0.46 ? "a" : "b"] };
  if (answering.length < MEMBERS.length && dice < 0.75) return { ...moment, answering: MEMBERS };
  return { ...moment, masters: masters.includes("a") ? ["b"] : ["a"] };
}
