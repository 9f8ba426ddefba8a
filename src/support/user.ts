import { statSync } from "node:fs";
import { hostname, userInfo } from "node:os";

/** Returns the user of this process: `uid 65534 (nobody)`; containers have users without a name. */
export function runningAs(): string {
  const { uid, username } = currentUser();
  return username === undefined ? `uid ${uid}` : `uid ${uid} (${username})`;
}

/** Returns who works at this terminal, `alice on mgmt-1`; `sudoUser` is the one that became root by sudo. */
export function whoWorks(sudoUser: string | undefined): string {
  const { uid, username = `uid ${uid}` } = currentUser();
  return `${sudoUser ?? username} on ${hostname()}`;
}

function currentUser(): { readonly uid: number; readonly username?: string } {
  try {
    return userInfo();
  } catch {
    return { uid: statSync("/proc/self").uid };
  }
}
