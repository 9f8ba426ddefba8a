import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

const compress = promisify(gzip);

/** One rendering of /metrics, shared by all scrapes that arrive together. */
export interface Rendering {
  readonly plain: Buffer;
  /** Compressed once, when it is first asked for. */
  gzipped(): Promise<Buffer>;
}

/** Renders on demand; whoever asks while a rendering is being made or compressed gets that one. */
export function createSharedRendering(render: () => Promise<string>): () => Promise<Rendering> {
  let current: Promise<Rendering> | undefined;
  let askers = 0;

  async function make(): Promise<Rendering> {
    await whileMoreCome(() => askers);
    const plain = Buffer.from(await render());
    let compressed: Promise<Buffer> | undefined;
    const gzipped = (): Promise<Buffer> =>
      (compressed ??= compress(plain, { level: constants.Z_BEST_SPEED }));
    void release(() => compressed);
    return { plain, gzipped };
  }

  /** After a turn in which those who came along may have begun to compress, and after that. */
  async function release(compressed: () => Promise<Buffer> | undefined): Promise<void> {
    await nextTurn();
    await compressed()?.catch(() => {});
    current = undefined;
  }

  return () => {
    askers += 1;
    current ??= make();
    current.catch(() => (current = undefined));
    return current;
  };
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
