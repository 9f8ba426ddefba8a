import type { IncomingMessage } from "node:http";
import { text, type Reply } from "./reply.ts";

/** Reads the configuration again. `errors`: one line each. */
export type ReloadConfig = () => Promise<
  { readonly ok: true } | { readonly ok: false; readonly errors: readonly string[] }
>;

/** A body, if anybody sends one, is not waited for. */
const CLOSE = { connection: "close", "cache-control": "no-store" };

/**
 * Reloads on POST and PUT and tells what became of it: 200, or 500 with the errors; 403 where it is not enabled.
 *
 * @see https://prometheus.io/docs/prometheus/latest/management_api/#reload
 */
export async function reloadReply(
  { method }: IncomingMessage,
  reload: ReloadConfig | undefined,
): Promise<Reply> {
  if (method !== "POST" && method !== "PUT")
    return text(405, "Only POST and PUT are served", { allow: "POST, PUT", ...CLOSE });
  if (reload === undefined)
    return text(403, "Reloading over HTTP is not enabled; --web.enable-lifecycle enables it", CLOSE);
  const result = await reload();
  return result.ok ? text(200, "Reloaded", CLOSE) : text(500, result.errors.join("\n"), CLOSE);
}
