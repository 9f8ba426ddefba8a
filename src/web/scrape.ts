import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

const gzipped = promisify(gzip);

/** As fast as may be: what is served is made anew every few seconds. */
export function compress(body: Buffer): Promise<Buffer> {
  return gzipped(body, { level: constants.Z_BEST_SPEED });
}

/** The text of /metrics, made on demand and shared by all scrapes that arrive together. */
export interface SharedRendering {
  /** Rendered now, or for others in these very turns of the event loop. */
  plain(): Promise<Buffer>;
  /** Likewise, compressed; who comes while a compression is under way gets what comes of it. */
  gzipped(): Promise<Buffer>;
}

export function createSharedRendering(render: () => Promise<string>): SharedRendering {
  let askers = 0;
  const plain = shareWhileUnderWay(async () => {
    await whileMoreCome(() => askers);
    return Buffer.from(await render());
  });
  const compressed = shareWhileUnderWay(async () => compress(await plain()));
  return {
    plain: () => {
      askers += 1;
      return plain();
    },
    gzipped: () => {
      askers += 1;
      return compressed();
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

/** Whether an Accept-Encoding header takes gzip; `*` stands for it where it is not named. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = (header ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  const named =
    codings.find((coding) => /^(x-)?gzip\b/.test(coding)) ?? codings.find((coding) => coding.startsWith("*"));
  return named !== undefined && /^[^;]+(;\s*q=(1(\.0*)?|0\.0*[1-9]\d*))?$/.test(named.replaceAll(" ", ""));
}
