import { createFleetExposition } from "../metrics/exposition.ts";
import { FACT_FAMILIES } from "../metrics/fact-families.ts";
import { operationKey } from "../api/operation.ts";
import { judge } from "../judge/judge.ts";
import { printable } from "../../support/text.ts";
import { fail, loadNamed, type ExitCode, type Flags, type Io } from "./command.ts";
import { pollAll } from "./poll-once.ts";
import { bodyOf, jsonResult, pollReport, type PolledAppliance } from "./poll-report.ts";
import { toJson } from "./format.ts";

/** Writes these answers to a new file, anonymized, and asks first unless `isAccepted`. */
type WriteRecording = (
  polled: PolledAppliance,
  file: string,
  isAccepted: boolean,
  io: Io,
) => Promise<ExitCode>;

/** Polls the VRRP list and all websites of an appliance once; prints the results and the samples, or the appliance's answers. */
export async function poll(
  flags: Flags,
  io: Io,
  [name = ""]: readonly string[],
  record: WriteRecording,
): Promise<ExitCode> {
  const { raw: isRaw = false, record: file, yes: isAccepted = false, output } = flags;
  const loaded = await loadNamed(flags, io, [name]);
  if (typeof loaded === "number") return loaded;
  const { named } = loaded;
  const [polled] = named.length === 1 ? await pollAll(named, io) : [];
  if (polled === undefined)
    return fail(io, `${JSON.stringify(name)} has ${named.length} appliances: name one`, 2);
  if (output === "json") io.out(toJson(jsonResult(polled, isRaw)));
  else {
    io.out(`${pollReport([polled], io.hasColor)}\n`);
    if (file !== undefined) {
      const written = await record(polled, file, isAccepted, io);
      return polled.ok ? written : 1;
    }
    const text = isRaw ? bodiesOf(polled) : await samplesOf(polled);
    io.out(io.isTerminal ? printable(text) : text);
  }
  return polled.ok ? 0 : 1;
}

/** Returns the samples of the facts that the appliance reported; verdicts need all appliances of its cluster. */
async function samplesOf({ facts }: PolledAppliance): Promise<string> {
  const judged = facts === undefined ? [] : [judge(facts, undefined, { wallMs: 0, monotonicMs: 0 })];
  const texts = await createFleetExposition({ families: FACT_FAMILIES }).render("", judged);
  return texts.join("").replace(/^#.*\n/gm, "");
}

function bodiesOf({ results }: PolledAppliance): string {
  const texts = results.map(({ observation, answer }) => {
    const status = answer === undefined || answer.status === 200 ? "" : ` (status ${answer.status})`;
    return `${operationKey(observation)}${status}:\n${bodyOf(answer) ?? "(no complete answer)"}\n`;
  });
  return texts.join("\n");
}
