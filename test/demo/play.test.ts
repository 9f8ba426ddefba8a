import { once } from "node:events";

import { describe, expect, it } from "vitest";

import { play } from "../../src/demo/play.ts";

describe("playing the script", () => {
  it("reports after each step, if there is time before the next", async () => {
    const said: string[] = [];
    const stop = new AbortController();
    await play({
      step: () => "step",
      intervalMs: 2,
      print: (sentence) => void said.push(sentence),
      report: {
        afterMs: 1,
        print: async () => {
          said.push("report");
          if (said.length === 4) stop.abort();
        },
      },
      stopRequested: once(stop.signal, "abort").then(() => undefined),
    });
    expect(said).toEqual(["step", "report", "step", "report"]);
  });
});
