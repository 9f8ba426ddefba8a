/** Runs `work` in one of the next turns of the event loop, after all that came before it. */
export type TakeTurn = (work: () => void) => void;

/** A few milliseconds of requests. */
const PER_TURN = 50;

/** Lets clients begin so many requests in a turn of the event loop, over all connections; in between, everything else goes on. */
export function createTurns(perTurn = PER_TURN): TakeTurn {
  const waiting: (() => void)[] = [];
  function run(): void {
    for (const work of waiting.splice(0, perTurn)) work();
    if (waiting.length > 0) setImmediate(run);
  }
  return (work) => {
    waiting.push(work);
    if (waiting.length === 1) setImmediate(run);
  };
}
