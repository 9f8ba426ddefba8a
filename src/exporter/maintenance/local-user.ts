/** Who changes planned work over the local socket: the kernel permits it, but does not tell Node.js who is at the other end. */
const LOCAL_SOCKET = "local socket";

/** A name that can be stated in a header and shown in a line. */
const STATABLE = /^[\w.@\\$ -]{1,64}$/;

/** Returns the name as it can be stated; an empty text for any other. */
export function statable(name: string): string {
  return STATABLE.test(name) ? name : "";
}

/** Returns the user of a change over the local socket, with the name that the command states, which may be any. */
export function localUser(stated: string): string {
  return `${LOCAL_SOCKET}, as stated: ${statable(stated) || "unknown"}`;
}

/** Returns whose limits a change of this user counts for. All at the local socket are one, since any name can be stated there. */
export function accountOf(user: string): string {
  return user.startsWith(LOCAL_SOCKET) ? LOCAL_SOCKET : user;
}
