import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { describeIssue } from "../config/issue-words.ts";
import { changeSchema, windowDocument, type WindowDocument } from "../maintenance/request.ts";
import type { MaintenanceWindow } from "../maintenance/window.ts";
import type { WindowError, Windows } from "../maintenance/windows.ts";
import type { Logger } from "../../support/log.ts";
import { MAX_BODY_BYTES } from "./body.ts";
import type { Queue } from "./queue.ts";
import type { Visitor } from "./visitor.ts";
import { BUSY, CLOSE, NOT_CACHED, refusePages, text, type Reply } from "./reply.ts";

export interface MaintenanceDeps {
  /** Whether planned work may be changed over HTTP. */
  readonly isEnabled: boolean;
  readonly windows: Pick<Windows, "start" | "extend" | "end" | "list" | "coming">;
  /** Returns sentences on the present problems of the subjects of a window. */
  readonly remaining: (window: MaintenanceWindow) => Promise<readonly string[]>;
  readonly logger: Pick<Logger, "info" | "warn">;
}

const STATUSES: Readonly<Record<WindowError, number>> = {
  covers_nothing: 422,
  too_long: 422,
  unknown_id: 404,
  duplicate_id: 409,
  planned_elsewhere: 409,
  drill_runs: 409,
  too_many: 429,
};

const DISABLED =
  "Planned work over HTTP is not enabled; --web.enable-maintenance enables it, and --web.admin-socket on the host of the exporter";
const UNKNOWN_USER =
  "Planned work needs a password, or a client certificate that is required and verified: see --web.config.file; " +
  "on the host of the exporter, --web.admin-socket needs neither";
const NO_OBJECT = "Expected a JSON object with one of start, extend and end";
const NOT_AMONG = "This user is not among the maintenance_users of the web configuration";

/**
 * Changes planned work for users who may change it. The fleet is judged in the turn of the request, as for other requests of the client.
 */
export function createMaintenance({ isEnabled, windows, remaining, logger }: MaintenanceDeps, queue: Queue) {
  async function change(request: IncomingMessage, { user, body }: Visitor): Promise<Reply> {
    const refused = (status: number, detail: string): Reply => {
      // Clients without a user write no lines.
      if (user !== undefined) logger.warn({ user: user.name, status, detail }, "planned work refused");
      return text(status, detail, CLOSE);
    };
    if (user === undefined) return refused(403, UNKNOWN_USER);
    if (!user.maintains) return refused(403, NOT_AMONG);
    if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? ""))
      return refused(415, "Expected content-type: application/json");
    const bytes = await body;
    if (bytes === undefined)
      return refused(413, `Expected a complete body of at most ${MAX_BODY_BYTES} bytes`);
    const json = parseJson(bytes);
    if (typeof json !== "object" || json === null || Array.isArray(json)) return refused(400, NO_OBJECT);
    const { data, error } = changeSchema.safeParse(json, { error: describeIssue });
    if (data === undefined)
      return refused(400, error.issues.map(({ path, message }) => [...path, message].join(": ")).join("\n"));
    const { start, extend, end } = data;
    const result =
      start !== undefined
        ? windows.start({ ...start, id: start.id ?? randomBytes(8).toString("hex") }, user.name)
        : extend !== undefined
          ? windows.extend(extend.id, extend.for, user.name)
          : windows.end(end?.id ?? "", user.name);
    if (!result.ok) return refused(STATUSES[result.reason], result.message);
    const [window, done] = [windowDocument(result.window), Object.keys(data).join("")];
    logger.info({ change: done, ...window, user: user.name }, "planned work changed");
    if (end === undefined) return changed({ window });
    const reply = await queue(request, `end ${window.id}`, async () =>
      changed({ window, remaining: await remaining(result.window) }),
    );
    return reply === BUSY ? changed({ window }) : reply;
  }

  return async (request: IncomingMessage, visitor: Visitor): Promise<Reply> => {
    if (request.method !== "POST")
      return text(405, "Only GET, HEAD and POST are served", { allow: "GET, HEAD, POST", ...CLOSE });
    if (!isEnabled && visitor.isLocal !== true) return text(403, DISABLED, CLOSE);
    return refusePages(request, "change planned work") ?? change(request, visitor);
  };
}

function changed(answer: { window: WindowDocument; remaining?: readonly string[] }): Reply {
  const body = `${JSON.stringify(answer)}\n`;
  return { status: 200, contentType: "application/json", body, headers: NOT_CACHED };
}

/** Parses JSON; returns `undefined` for any other bytes. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
