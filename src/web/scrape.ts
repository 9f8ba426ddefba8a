import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

const compress = promisify(gzip);

/** One rendering of /metrics, shared by all scrapes that arrive together. */
export interface Rendering {
  readonly plain: Buffer;
  /** Compressed once, when it is first asked for. */
  gzipped(): Promise<Buffer>;
}

/**
 * Renders on demand; whoever asks while a rendering is being made or compressed gets that one.
 */
export function createSharedRendering(render: () => Promise<string>): () => Promise<Rendering> {
  let current: Promise<Rendering> | undefined;

  async function make(): Promise<Rendering> {
    // Requests that the event loop has read in the same turn are still to be parsed; they come along.
    await new Promise((resolve) => setImmediate(resolve));
    const plain = Buffer.from(await render());
    let compressed: Promise<Buffer> | undefined;
    const gzipped = (): Promise<Buffer> =>
      (compressed ??= compress(plain, { level: constants.Z_BEST_SPEED }));
    return { plain, gzipped };
  }

  return () => {
    if (current === undefined) {
      const made = make();
      current = made;
      void release(made);
    }
    return current;
  };

  async function release(made: Promise<Rendering>): Promise<void> {
    await made.catch(() => {});
    if (current === made) current = undefined;
  }
}

/** Whether an Accept-Encoding header takes gzip. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = (header ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  return codings.some((coding) => /^(gzip|x-gzip|\*)(\s*;\s*q=(1(\.0*)?|0\.0*[1-9]\d*))?$/.test(coding));
}
