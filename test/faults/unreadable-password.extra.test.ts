import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { healthy } from "./behaviours.ts";
import { entry, test } from "./stage.ts";
import { limitDescriptors } from "./program.ts";

const APPLIANCES = 3;
const PATIENTLY = { timeoutMs: 30_000 };

test.concurrent("fault 39: a password file that cannot be read for want of descriptors: `local`, and read again when there are some", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = {
    polling: { vrrp: { interval: "3s", timeout: "3s" } },
    http_client: { basic_auth: { username: "monitor", password_file: "password" } },
    appliances: Array.from({ length: APPLIANCES }, (_, nth) => entry(`a-${nth}`, server)),
  };
  const setup = { config, files: { password: "hunter2" } };
  const program = await stage.program(setup, { logLevel: "debug" });
  const areUp = async (): Promise<void> => {
    const up = (await program.scrape()).all("appliance_up");
    expect(up.map(({ value }) => value)).toEqual(Array.from({ length: APPLIANCES }, () => 1));
  };
  await eventually(areUp, PATIENTLY);

  // Connections are kept: nothing but the file needs a descriptor.
  await limitDescriptors(program, 10);
  await writeFile(join(program.folder, "password"), "hunter2\n");
  // More than two seconds, from when on the metadata of the file are trusted.
  const polls = () => program.log().filter(({ msg }) => msg === "poll completed").length;
  const before = polls();
  await eventually(() => expect(polls()).toBeGreaterThanOrEqual(before + 4 * APPLIANCES), PATIENTLY);
  await limitDescriptors(program, 1024);
  await eventually(areUp, PATIENTLY);
  const failing = program.log().filter(({ msg }) => msg === "polling fails");
  const ofTheFile = failing.filter(({ detail }) => detail?.includes("the password file"));
  expect(new Set(ofTheFile.map(({ appliance }) => appliance)).size).toBe(APPLIANCES);
  expect(new Set(ofTheFile.map(({ reason, detail }) => `${reason}: ${detail}`))).toEqual(
    new Set([`local: cannot use the password file "${program.folder}/password": cannot be read (EMFILE)`]),
  );
});
