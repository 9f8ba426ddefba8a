import { compress } from "./gzip.ts";
import type { MetricsText } from "./metrics-text.ts";

/**
 * The text of /metrics, shared by all scrapes that arrive together: it is rendered when it is asked for, or was for
 * others in these very turns of the event loop, and who comes while it is compressed gets what comes of that.
 */
export function createSharedRendering(render: () => Promise<string | Buffer>): MetricsText {
  let askers = 0;
  const plain = shareWhileUnderWay(async () => {
    await whileMoreCome(() => askers);
    const text = await render();
    return typeof text === "string" ? Buffer.from(text) : text;
  });
  const gzipped = shareWhileUnderWay(async () => compress(await plain()));
  return {
    plain: () => {
      askers += 1;
      return plain();
    },
    gzipped: () => {
      askers += 1;
      return gzipped();
    },
  };
}

/** Calls that arrive while one is under way get its result. */
function shareWhileUnderWay<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => (underWay ??= work().finally(() => (underWay = undefined)));
}

/** A new connection is accepted in one turn of the event loop and its request read in the next. */
const QUIET_TURNS = 3;
const MAX_TURNS = 300;

/** Waits for those who arrive together: the event loop accepts one connection a turn. */
async function whileMoreCome(count: () => number): Promise<void> {
  let quietTurns = 0;
  for (let turn = 0; turn < MAX_TURNS && quietTurns < QUIET_TURNS; turn += 1) {
    const before = count();
    await nextTurn();
    quietTurns = count() === before ? quietTurns + 1 : 0;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
