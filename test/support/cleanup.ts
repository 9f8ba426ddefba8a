type Undo = () => Promise<void>;

/** Undoes what was started, even after an error. */
export interface Cleanup {
  add(undo: Undo): void;
  /** Undoes everything, latest first. Continues after a failure and then rejects. A second call has no effect. */
  run(): Promise<void>;
}

export function createCleanup(): Cleanup {
  const undos: Undo[] = [];
  async function run(): Promise<void> {
    const undo = undos.pop();
    if (undo === undefined) return;
    try {
      await undo();
    } finally {
      await run();
    }
  }
  return { add: (undo) => void undos.push(undo), run };
}
