import type { MaintenanceWindow } from "./maintenance/window.ts";
import type { Windows } from "./maintenance/windows.ts";
import type { JournalFacts } from "./metrics/self.ts";
import type { Listener, Restored } from "./board/board.ts";
import type { KnownIncident } from "./document/schema.ts";
import type { Strips } from "./view/strip.ts";
import type { HistoryDeps } from "./web/history.ts";

/** What earlier runs of the exporter left, and who records what happens in this one. An exporter runs without it too. */
export interface History extends Listener {
  /** The state from which this run continues. */
  readonly restored: Restored;
  /** What the page shows of the past. */
  readonly strips: Strips;
  /** What the metrics show of the journal; `undefined` without a journal. */
  readonly journal: JournalFacts | undefined;
  /** Returns lines of the journal; `undefined` without a journal. */
  readonly read: HistoryDeps["read"] | undefined;
  /** Records a window that began, or whose end has changed. */
  planned(window: MaintenanceWindow): void;
  /** Begins to record what is judged. */
  start(sources: Sources): void;
  /** Stops within two seconds. */
  stop(): Promise<void>;
}

/** What a history records, besides what a `Listener` receives. */
export interface Sources {
  /** Judges everything as it is now. */
  readonly verdicts: () => Promise<unknown>;
  readonly windows: Pick<Windows, "commanded">;
  /** Receives the incidents of earlier runs as soon as they are read. */
  readonly onIncidents: (incidents: readonly KnownIncident[]) => void;
}

/** Remembers and records nothing. */
export const NO_HISTORY: History = {
  restored: { memories: new Map(), ongoing: new Map(), incidents: [], windows: [] },
  strips: { strip: () => undefined, damages: () => [] },
  journal: undefined,
  read: undefined,
  judged: () => {},
  happened: () => {},
  reloaded: () => {},
  planned: () => {},
  start: () => {},
  stop: async () => {},
};
