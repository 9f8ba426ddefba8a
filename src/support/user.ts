import { statSync } from "node:fs";
import { hostname, userInfo } from "node:os";

/** Returns the user of this process: `uid 65534 (nobody)`; containers have users without a name. */
export function runningAs(): string {
  const { uid, username } = currentUser();
  return username === undefined ? `uid ${uid}` : `uid ${uid} (${username})`;
}

/** Returns the name of who works at this terminal; `sudoUser` is the one that became root by sudo. Users of containers may have none. */
export function userAtWork(sudoUser: string | undefined): string | undefined {
  return sudoUser ?? currentUser().username;
}

/** Returns who works at this terminal and where, `alice on mgmt-1`. */
export function whoWorks(sudoUser: string | undefined): string {
  return `${userAtWork(sudoUser) ?? `uid ${currentUser().uid}`} on ${hostname()}`;
}

function currentUser(): { readonly uid: number; readonly username?: string } {
  try {
    return userInfo();
  } catch {
    return { uid: statSync("/proc/self").uid };
  }
}
