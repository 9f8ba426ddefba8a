import { z } from "zod";
import type { WebsiteConfig } from "../config.ts";
import { nameSchema } from "./values.ts";
import { parseStatusRange } from "../status-set.ts";
import { listOf } from "../yaml/collections.ts";
import { expected } from "../yaml/wording.ts";

const PROTOCOLS = { http: ["http"], https: ["https"], both: ["http", "https"] } as const;

/** In one list. */
const MAX_WEBSITES = 10_000;
const MAX_STATUS_RANGES = 100;

const wordId = expected("a website's id: a whole number from 0 on");

const idSchema = z
  .union([z.int(), z.string()], { error: wordId })
  .transform((value, context) => {
    const id = /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
    if (Number.isSafeInteger(id)) return id;
    context.addIssue({ code: "custom", message: wordId({ input: value }) });
    return z.NEVER;
  })
  .meta({ description: "The website's id on the appliance: a whole number from 0 on." });

const wordStatus = expected("a status code such as 401, or a range such as 200-399");

const statusSchema = z.union([z.int(), z.string()], { error: wordStatus }).transform((value, context) => {
  const range = parseStatusRange(String(value));
  if (range) return range;
  context.addIssue({ code: "custom", message: wordStatus({ input: value }) });
  return z.NEVER;
});

const websiteObject = z.strictObject({
  id: idSchema,
  name: nameSchema.meta({ description: "The `website` label; default: the id." }).optional(),
  protocol: z
    .enum(["http", "https", "both"], { error: expected("http, https or both") })
    .meta({
      description: "The protocols to export, whatever the answer holds; default: those found in the answer.",
    })
    .optional(),
  expect_status: listOf(statusSchema, {
    min: 1,
    max: MAX_STATUS_RANGES,
    description: "Status codes and ranges of them that count as up; default: [200-399].",
  }).optional(),
});

/** A website: its id alone, or a map. */
export const websiteSchema = z
  .union([idSchema, websiteObject], { error: expected("a website's id, or a map with an id") })
  .transform((website) => toWebsite(typeof website === "number" ? { id: website } : website));

export const websitesSchema = listOf(websiteSchema, {
  max: MAX_WEBSITES,
  description: "Websites to test; an appliance's are added to its cluster's.",
});

function toWebsite(website: z.output<typeof websiteObject>): WebsiteConfig {
  return {
    id: website.id,
    name: website.name ?? String(website.id),
    protocols: website.protocol && PROTOCOLS[website.protocol],
    expectStatus: { ranges: website.expect_status ?? [{ from: 200, to: 399 }] },
  };
}
