import { z } from "zod";
import { apiOf, DEFAULT_KIND, KIND_NAMES } from "../exporter/api/kinds.ts";
import { OPERATION_KINDS } from "../exporter/api/operation.ts";
import { MAX_WEBSITE_ID } from "../exporter/api/website-list.ts";
import type { Reply } from "../exporter/web/reply.ts";

/** The content types that are recorded; any other, or none, is `other`. */
export const CONTENT_TYPES = ["application/json", "text/html", "text/plain", "other"] as const;

/** The anonymized answers of an appliance, in the format of `poll --record`. */
export const recordingSchema = z.strictObject({
  /** The versions of the exporter and of Node.js. */
  exporter: z.string(),
  node: z.string(),
  kind: z.enum(KIND_NAMES).default(DEFAULT_KIND),
  answers: z.array(
    z.strictObject({
      operation: z.enum(OPERATION_KINDS),
      website_id: z.int().min(1).max(MAX_WEBSITE_ID).optional(),
      /** The result is `ok`, or the reason why the poll failed. */
      result: z.string(),
      /** The status is absent if there was no complete answer. */
      status: z.int().min(200).max(999).optional(),
      content_type: z.enum(CONTENT_TYPES).optional(),
      /** The deviations of the body, or why it cannot be decoded. */
      findings: z.array(z.string()).optional(),
      /** The body is absent if the status is not 200. */
      body: z.string().optional(),
    }),
  ),
});

export type Recording = z.infer<typeof recordingSchema>;

/** The replies by path; `undefined` if the recorded poll got none. */
export type Replay = Pick<ReadonlyMap<string, Reply | undefined>, "get" | "has">;

export function replayOf({ kind, answers }: Recording): Replay {
  return new Map(
    answers.flatMap(
      ({ operation, website_id: websiteId, status, content_type: contentType = "other", body = "" }) => {
        const path = apiOf(kind, operation)?.path(websiteId);
        const reply = status === undefined ? undefined : { status, contentType, body };
        return path === undefined ? [] : [[path, reply] as const];
      },
    ),
  );
}
