type Undo = () => Promise<void>;

/** What has been begun and must be ended, whatever happens. */
export interface Cleanup {
  add(undo: Undo): void;
  /** Undoes everything, the latest first, also where one of them fails; it then rejects. Again, it has nothing left to do. */
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
