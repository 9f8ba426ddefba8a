import { createServer } from "node:http";
import { WORST_LISTS, WORST_TESTS, type WorstAnswer } from "../support/worst-answers.ts";

/**
 * Appliances at the paths `/0` to `/7` that answer each poll with one of the worst bodies within the limits: all with the
 * same kind at a time, and the next kind after two polls. Healthy ones at any other path. A process of its own, so that
 * its work is not taken for the exporter's; it sends its port to its parent.
 */
const APPLIANCES = 8;
const TURNS = 2;
const HEALTHY =
  '{"carp0":{"advskew":"50","alias":[],"priority":"204","state_current":"MASTER","vhid":"2","vip":"192.0.2.100"}}';

function bodiesOf(answers: Readonly<Record<string, WorstAnswer>>, who: number): readonly Buffer[] {
  return Object.values(answers).flatMap((answer) =>
    Array.from({ length: TURNS }, (_, turn) => answer(turn, who)),
  );
}

const lists = Array.from({ length: APPLIANCES }, (_, who) => bodiesOf(WORST_LISTS, who));
const tests = bodiesOf(WORST_TESTS, 0);
const polls = new Map<string, number>();

const server = createServer((request, response) => {
  const { url = "" } = request;
  const nth = polls.get(url) ?? 0;
  polls.set(url, nth + 1);
  const list = lists[Number(/^\/(\d)\//.exec(url)?.[1])];
  const bodies = list !== undefined && url.endsWith("/test") ? tests : list;
  response.end(bodies === undefined ? HEALTHY : bodies[nth % bodies.length]);
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
process.on("disconnect", () => process.exit(0));
