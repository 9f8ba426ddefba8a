import { messageOf } from "../../src/support/errors.ts";

/** Why this machine cannot do something; empty if the attempt succeeds. */
export function obstacleTo(something: string, attempt: () => void): string {
  try {
    attempt();
    return "";
  } catch (error) {
    return `${something} is not possible here: ${messageOf(error)}`;
  }
}
