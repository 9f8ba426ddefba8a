import type { Socket } from "node:net";
import type { PresentedCertificate } from "./outcome.ts";

/** How far an attempt to connect has come; what a deadline that strikes is called depends on it. */
export type Stage = "lookup" | "connect" | "proxy" | "tls" | "connected";

/** Watches one attempt, and may end it at any stage by destroying the sockets it is told of. */
export interface AttemptWatcher {
  stage(stage: Stage): void;
  /** Every socket of the attempt, from the moment it exists. */
  socket(socket: Socket): void;
  /** What the peer presented in a full handshake, trusted or not. */
  certificate(certificate: PresentedCertificate): void;
}
