/** Where the configuration is reloaded. */
export const RELOAD_PATH = "/-/reload";

/** Pages that are where they are, whatever the flags say. */
export type PagePath = (typeof PAGE_PATHS)[number];
const PAGE_PATHS = ["/", "/-/healthy", "/-/ready", "/config", "/api/v1/fleet"] as const;

const TAKEN: ReadonlySet<string> = new Set([...PAGE_PATHS, RELOAD_PATH]);

/** Whether something else than metrics is served there. */
export function isTakenPath(path: string): boolean {
  return TAKEN.has(path) || path.startsWith("/assets/");
}
