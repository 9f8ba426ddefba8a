import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Behaviour } from "../support/fault-server.ts";
import { answer, LIST, TEST } from "./behaviours.ts";
import { limitDescriptors, type Program } from "./program.ts";
import { entry, PATIENT, test } from "./stage.ts";

/** Healthy, and each connection serves one request, so that the next one takes another descriptor. */
const healthyOnce: Behaviour = ({ socket, onRequest }) =>
  onRequest(({ path }) => {
    const body = path.endsWith("/test") ? TEST : LIST;
    socket.end(answer(body, "200 OK", ["Connection: close"]));
  });

async function reasonsOf(program: Program): Promise<readonly (string | undefined)[]> {
  const failures = (await program.scrape()).all("appliance_poll_failure_info");
  return [...new Set(failures.map(({ labels }) => labels["reason"]))];
}

test.concurrent("fault 14: out of descriptors: `local` for every operation, scrapes over a kept connection go on, and it passes", async ({
  stage,
}) => {
  const server = await stage.server(healthyOnce);
  const byAddress = Array.from({ length: 20 }, (_, nth) => entry(`a-${nth}`, server, { websites: [1] }));
  const byName = { ...entry("named", server), base_url: `http://localhost:${server.port}` };
  const polling = { vrrp: PATIENT, websites: PATIENT };
  const program = await stage.program({ config: { polling, appliances: [...byAddress, byName] } });
  const isWell = async (): Promise<void> => {
    const samples = await program.scrape();
    expect(samples.all("appliance_up").filter(({ value }) => value === 1).length).toBe(21);
    expect(samples.all("appliance_poll_failure_info")).toEqual([]);
    expect(samples.all("website_up").length).toBe(20);
  };
  await eventually(isWell);

  await limitDescriptors(program, 10);
  await eventually(async () => {
    const failures = (await program.scrape()).all("appliance_poll_failure_info");
    expect(failures.length).toBe(41);
  });
  const told = program.log().filter(({ msg }) => msg === "polling fails");
  expect(await reasonsOf(program)).toEqual(["local"]);
  expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(["local"]));

  await limitDescriptors(program, 1024);
  await eventually(isWell);
});
