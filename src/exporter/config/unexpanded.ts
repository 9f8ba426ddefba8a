import type { ApplianceConfig } from "./config.ts";

/** A whole text that other programs replace: `${PASSWORD}`, `$PASSWORD`, `{{ password }}`, `%PASSWORD%`. */
const VARIABLE = /^(\$\{[^}]+\}|\$\w+|\{\{.*\}\}|%\w+%)$/;

export const UNEXPANDED =
  "passwords look like variables, and nothing is expanded: they are sent as they are; use password_file";

/** Returns the appliances whose password in the configuration looks like a variable. */
export function unexpandedPasswords(appliances: readonly ApplianceConfig[]): readonly string[] {
  return appliances.flatMap(({ name, http: { basicAuth } }) =>
    basicAuth?.password.kind === "inline" && VARIABLE.test(basicAuth.password.secret.reveal()) ? name : [],
  );
}
