import { z } from "zod";
import { commentSchema, durationSchema } from "../config/values.ts";
import type { StartRequest } from "./windows.ts";
import type { MaintenanceWindow } from "./window.ts";

/** The names of appliances or clusters; each is looked up in the whole fleet. */
const namesSchema = z.array(z.string()).max(100).default([]);
const idSchema = z
  .string()
  .regex(
    /^[a-z0-9]{8,32}$/,
    "expected the id of a window, 8 to 32 lower-case letters and digits: appliance-exporter maintenance list shows it",
  );
const forSchema = durationSchema("1s", "1y");

const startSchema = z
  .strictObject({
    id: idSchema.optional(),
    appliances: namesSchema,
    clusters: namesSchema,
    labels: z.record(z.string(), z.string()).default({}),
    for: forSchema,
    comment: commentSchema,
    drill: z.boolean().default(false),
    despite: z.array(idSchema).max(100).default([]),
  })
  .transform(({ id, appliances, clusters, labels, for: forMs, comment, drill: isDrill, despite }) => {
    const request: Omit<StartRequest, "id"> = {
      scope: { appliances, clusters, labels },
      comment,
      forMs,
      isDrill,
      despite,
    };
    return { ...request, id };
  });

/** The body of a request that changes planned work. */
export const changeSchema = z
  .strictObject({
    start: startSchema,
    extend: z.strictObject({ id: idSchema, for: forSchema }),
    end: z.strictObject({ id: idSchema }),
  })
  .partial()
  .refine((change) => Object.keys(change).length === 1, "expected one of start, extend and end");

const instant = z.iso.datetime();

/** A window in the API and in the journal. */
export const windowSchema = z.object({
  id: z.string(),
  appliances: z.array(z.string()),
  clusters: z.array(z.string()),
  labels: z.record(z.string(), z.string()),
  begin: instant,
  end: instant,
  comment: z.string(),
  /** The user who started the window; absent for a window of the configuration. */
  by: z.string().optional(),
  /** The user who ended or extended the window last; absent if none did. */
  changedBy: z.string().optional(),
  origin: z.enum(["configuration", "command", "drill"]),
});

export type WindowDocument = z.infer<typeof windowSchema>;

/** `coming` has the next window of each entry of the configuration that has not begun; absent if there is none, and from an older exporter. */
export const windowsSchema = z.object({
  windows: z.array(windowSchema),
  coming: z.array(windowSchema).optional(),
});

export type WindowsDocument = z.infer<typeof windowsSchema>;

/**
 * The answer to a change. After an end, `remaining` says in sentences what is wrong with the subjects of the window; absent from a busy
 * exporter.
 */
export const changedSchema = z.object({ window: windowSchema, remaining: z.array(z.string()).optional() });

export function windowDocument({ scope, beginMs, endMs, ...rest }: MaintenanceWindow): WindowDocument {
  const [begin = "", end = ""] = [beginMs, endMs].map((ms) => new Date(ms).toISOString());
  const { appliances, clusters, labels } = scope;
  return {
    ...rest,
    appliances: [...appliances],
    clusters: [...clusters],
    labels: { ...labels },
    begin,
    end,
  };
}

export function windowFrom(document: WindowDocument): MaintenanceWindow {
  const { id, appliances, clusters, labels, begin, end, comment, by, changedBy, origin } = document;
  const [beginMs, endMs] = [Date.parse(begin), Date.parse(end)];
  return { id, scope: { appliances, clusters, labels }, beginMs, endMs, comment, by, changedBy, origin };
}
