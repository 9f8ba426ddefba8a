import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/** Does the work while this process has no descriptor left. For a process of its own with a low limit. */
export async function withoutDescriptors<T>(work: () => Promise<T>): Promise<T> {
  const taken = takeAll();
  try {
    return await work();
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}

function takeAll(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync(devNull, "r"));
  } catch {
    return taken;
  }
}
