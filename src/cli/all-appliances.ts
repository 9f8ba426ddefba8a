import pLimit from "p-limit";
import type { Io } from "./io.ts";

const MAX_CONCURRENT = 32;

/** The results of `work` in the order of the appliances, 32 at a time; shows how many are done. */
export async function forAll<Appliance, T>(
  appliances: readonly Appliance[],
  { progress }: Pick<Io, "progress">,
  work: (appliance: Appliance) => Promise<T>,
): Promise<readonly T[]> {
  const limit = pLimit(MAX_CONCURRENT);
  let done = 0;
  const results = await Promise.all(
    appliances.map((appliance) =>
      limit(async () => {
        const result = await work(appliance);
        done += 1;
        progress(`${done} of ${appliances.length} appliances`);
        return result;
      }),
    ),
  );
  progress("");
  return results;
}
