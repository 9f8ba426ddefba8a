import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { healthy } from "./behaviours.ts";
import { entry, EVERY_SECOND, type Proof } from "./proof.ts";
import { limitDescriptors } from "./proofs-of-limits.ts";

const APPLIANCES = 3;

export const PROOFS_OF_READ_ERRORS: readonly Proof[] = [
  {
    fault: 39,
    name: "a password file that cannot be read for want of descriptors: `local`, and read again when there are some",
    needs: "prlimit",
    prove: async (stage) => {
      const server = await stage.server(healthy);
      const program = await stage.program({
        config: {
          polling: { vrrp: EVERY_SECOND },
          http_client: { basic_auth: { username: "monitor", password_file: "password" } },
          appliances: Array.from({ length: APPLIANCES }, (_, nth) => entry(`a-${nth}`, server)),
        },
        files: { password: "hunter2" },
      });
      const areUp = async (): Promise<void> => {
        const up = (await program.scrape()).all("appliance_up");
        expect(up.map(({ value }) => value)).toEqual(Array.from({ length: APPLIANCES }, () => 1));
      };
      await eventually(areUp);

      // Connections are kept: nothing but the file needs a descriptor.
      await limitDescriptors(program, 10);
      await writeFile(join(program.folder, "password"), "hunter2\n");
      // More than two seconds, from when on the metadata of the file are trusted.
      await eventually(
        async () => {
          const failures = (await program.scrape()).all("appliance_poll_failures_total");
          const ofLists = failures.filter(({ labels }) => labels["operation"] === "vrrp");
          expect(ofLists.filter(({ value }) => value >= 5).length).toBe(APPLIANCES);
        },
        { timeoutMs: 30_000 },
      );
      await limitDescriptors(program, 1024);
      await eventually(areUp);
      const failing = program.log().filter(({ msg }) => msg === "polling fails");
      expect(failing.map(({ reason, detail }) => `${reason}: ${detail}`)).toEqual(
        Array.from(
          { length: APPLIANCES },
          () => "local: the password file cannot be used: cannot be read (EMFILE)",
        ),
      );
    },
  },
];
