/** Who changes planned work over the local socket: the kernel permits it, but does not tell Node.js who is at the other end. */
const LOCAL_SOCKET = "local socket";

/** Returns the user of a change over the local socket, with the name that the command states, which may be any. */
export function localUser(stated: string): string {
  return `${LOCAL_SOCKET}, as stated: ${/^[\w.@ -]{1,64}$/.test(stated) ? stated : "unknown"}`;
}

/** Returns whose limits a change of this user counts for. All at the local socket are one, since any name can be stated there. */
export function accountOf(user: string): string {
  return user.startsWith(LOCAL_SOCKET) ? LOCAL_SOCKET : user;
}
