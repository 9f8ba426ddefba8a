import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/** Does the work while this process has no more than `spare` descriptors left. For a process of its own with a low limit. */
export async function withoutDescriptors<T>(work: () => Promise<T>, spare = 0): Promise<T> {
  const taken = takeAll();
  for (const descriptor of taken.splice(0, spare)) closeSync(descriptor);
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
