import { startTestExporter, type ExporterUnderTest, type Setup } from "../support/exporter.ts";
import { startFaultServer, type Behaviour, type FaultServer } from "../support/fault-server.ts";

/** A fault with a course of its own: it resolves where the stated behaviour was seen. */
export interface Proof {
  readonly fault: number;
  readonly name: string;
  readonly prove: (stage: Stage) => Promise<void>;
}

/** Starts what a proof needs, and ends it with the proof. */
export interface Stage {
  server(behaviour: Behaviour): Promise<FaultServer>;
  exporter(setup: Setup): Promise<ExporterUnderTest>;
  /** Remembers what must be ended, whatever comes; last come, first ended. */
  cleanUp(end: () => unknown): void;
}

/** Runs a proof and then ends all that it started. */
export async function runProof({ prove }: Proof): Promise<void> {
  const ends: (() => unknown)[] = [];
  const stage: Stage = {
    server: async (behaviour) => {
      const server = await startFaultServer(behaviour);
      ends.unshift(server.stop);
      return server;
    },
    exporter: async (setup) => {
      const exporter = await startTestExporter(setup);
      ends.unshift(exporter.stop);
      return exporter;
    },
    cleanUp: (end) => void ends.unshift(end),
  };
  try {
    await prove(stage);
  } finally {
    for (const end of ends) await end();
  }
}

/** An entry of the configuration. */
export function entry(name: string, server: { readonly port: number }, more: Readonly<Record<string, unknown>> = {}) {
  return { name, base_url: `http://127.0.0.1:${server.port}`, allow_http: true, ...more };
}

/** Polled each second. */
export const EVERY_SECOND = { interval: "1s", timeout: "1s" };
