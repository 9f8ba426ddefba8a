import { z } from "zod";

import { listOf, withBoundedIssues } from "../config/yaml/collections.ts";
import { host, integer, listenAddress, port, text, timeout, urlPath, username } from "./config-values.ts";
import { vrrpSchema } from "./config-vrrp.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

const user = z
  .strictObject({ username, password: z.string().min(1).optional(), password_file: text.optional() })
  .refine((given) => (given.password === undefined) !== (given.password_file === undefined), {
    error: "expected exactly one of password and password_file",
  });

const website = z.strictObject({
  id: integer(0),
  protocol: z.enum(["http", "https", "both"]),
  host,
  http_port: port.default(80),
  https_port: port.default(443),
  path: urlPath.default("/"),
});

const websiteTest = z.strictObject({
  timeout: timeout.default(DEFAULT_TIMEOUT_MS),
  tls_config: z
    .strictObject({ ca_file: text.optional(), insecure_skip_verify: z.boolean().default(false) })
    .prefault({}),
});

/** The configuration of the reference appliance, file names not yet followed. */
export const applianceSchema = z.strictObject({
  listen: listenAddress,
  tls: z.strictObject({ cert_file: text, key_file: text }),
  users: uniqueBy(listOf(user, { min: 1 }), ({ username: name }) => name, "username"),
  vrrp: vrrpSchema,
  website_test: websiteTest.prefault({}),
  websites: uniqueBy(listOf(website), ({ id }) => id, "id").default([]),
});

export type ApplianceSettings = z.infer<typeof applianceSchema>;

/** A list whose items differ in `key`; a later one that does not is an error. */
function uniqueBy<T>(list: z.ZodType<readonly T[]>, keyOf: (item: T) => unknown, key: string) {
  const unique = list.superRefine((items, context) => {
    const seen = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      const message = `another item above has the same ${key}`;
      if (seen.has(keyOf(item))) context.addIssue({ code: "custom", path: [index, key], message });
      seen.add(keyOf(item));
    }
  });
  return withBoundedIssues(unique);
}
