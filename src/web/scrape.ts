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

  async function make(): Promise<Rendering> {
    // Requests that the event loop has read in the same turn are still to be parsed; they come along.
    await nextTurn();
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
    current ??= make();
    current.catch(() => (current = undefined));
    return current;
  };
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
