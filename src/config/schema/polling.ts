import { z } from "zod";
import { durationSchema, isMap, scheduleSchema } from "./values.ts";

const DAY_MS = 86_400_000;

const timingSchema = z
  .strictObject({
    interval: durationSchema(1_000, DAY_MS)
      .meta({ description: "Time from one poll to the next: 1s to 1d. Displaces an outer schedule." })
      .optional(),
    schedule: scheduleSchema
      .meta({
        description: "A node-cron expression of six fields, seconds first. Displaces an outer interval.",
      })
      .optional(),
    timeout: durationSchema(1, DAY_MS)
      .meta({ description: "How long a poll may take; at most the interval." })
      .optional(),
  })
  .refine((timing) => !("interval" in timing && "schedule" in timing), {
    path: ["schedule"],
    error: "expected either interval or schedule, got both",
    when: isMap,
  });

/** The same for the known keys alone; an unknown one, reported otherwise, says nothing about them. */
export const knownTimingSchema = z.object(timingSchema.shape);

export type Timing = z.output<typeof timingSchema>;

const innerShape = {
  vrrp: timingSchema
    .meta({ description: "The list of VRRP interfaces; default: every 5s, timeout 4s." })
    .optional(),
  websites: timingSchema
    .meta({ description: "The website tests; default: every 30s, timeout 20s." })
    .optional(),
  max_concurrent_website_tests_per_appliance: z
    .int()
    .min(1)
    .max(1_000)
    .meta({ description: "Website tests in flight at once on one appliance; default: 4." })
    .optional(),
};

/** The block as it may stand in a cluster and in an appliance. */
export const innerPollingSchema = z.strictObject(innerShape).meta({
  id: "polling",
  description: "When appliances are asked; inner blocks override outer ones key by key.",
});

/** The block at the top. */
export const pollingSchema = z
  .strictObject({
    ...innerShape,
    max_concurrent_website_tests: z
      .int()
      .min(1)
      .max(10_000)
      .meta({ description: "Website tests in flight at once over the fleet; default: 64." })
      .optional(),
  })
  .meta({ description: "When appliances are asked: the defaults for all of them." });
