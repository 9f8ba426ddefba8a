import { expect, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { ExporterUnderTest } from "../support/exporter.ts";
import type { Behaviour, FaultServer } from "../support/fault-server.ts";
import { answer, LIST, TEST } from "./behaviours.ts";
import { entry, test } from "./stage.ts";

// Many polls, one after the other, are made over sockets.
vi.setConfig({ testTimeout: 60_000 });

const MINUTELY = { interval: "1m", timeout: "1m" };
const POLLING = { vrrp: MINUTELY, websites: MINUTELY };
const HTTP_CLIENT = { basic_auth: { username: "monitor", password_file: "password" } };

/** Healthy, but answers requests with this path, or these credentials, in this way. */
function refuses(isRefused: RegExp, status: string, headers: () => readonly string[] = () => []): Behaviour {
  return ({ socket, onRequest }) =>
    onRequest(({ path, head }) => {
      if (isRefused.test(head)) socket.write(answer("{}", status, headers()));
      else socket.write(answer(path.endsWith("/test") ? TEST : LIST));
    });
}

function countOf({ requests }: FaultServer, pathEnd: string): number {
  return requests.filter(({ path }) => path.endsWith(pathEnd)).length;
}

/** Waits until so many polls came due, made or skipped, and none is in flight. */
async function untilDue(exporter: ExporterUnderTest, count: number): Promise<void> {
  await eventually(async () => {
    const samples = await exporter.scrape();
    const made = samples.all("appliance_polls_total");
    const skipped = samples.all("appliance_exporter_polls_skipped_total");
    const due = [...made, ...skipped].reduce((sum, { value }) => sum + value, 0);
    expect(due).toBeGreaterThanOrEqual(count);
    expect(samples.value("appliance_exporter_polls_in_flight")).toBe(0);
  });
}

/** Lets so many minutes pass; in each of them this many operations are due. */
async function passMinutes(exporter: ExporterUnderTest, minutes: number, operations: number): Promise<void> {
  for (let nth = 1; nth <= minutes; nth += 1) {
    await untilDue(exporter, nth * operations);
    exporter.leap(61_000);
  }
  await untilDue(exporter, (minutes + 1) * operations);
}

/** The regular instants do not move with time that leaps: one more may come in the seconds that a test takes. */
function orOneMore(polls: number): readonly number[] {
  return [polls, polls + 1];
}

test.concurrent("fault 8: refused credentials are tried ever less often, for all operations, until the password file changes", async ({
  stage,
}) => {
  const wrong = Buffer.from("monitor:wrong").toString("base64");
  const server = await stage.server(refuses(new RegExp(wrong), "401 Unauthorized"));
  const appliances = [entry("a", server, { websites: [1, 2] })];
  const exporter = await stage.exporter({
    config: { polling: POLLING, http_client: HTTP_CLIENT, appliances },
    files: { password: "wrong" },
  });
  // After the second refusal the pause is two minutes, after the third it is four.
  await passMinutes(exporter, 4, 3);
  expect(server.requests.map(({ path }) => path.split("/").at(-1))).toEqual([
    "virtual",
    "virtual",
    "virtual",
  ]);

  await exporter.write("password", "right");
  exporter.leap(61_000);
  await eventually(async () => expect((await exporter.scrape()).value("appliance_up")).toBe(1));
  await eventually(() => expect(countOf(server, "/test")).toBe(2));
});

const RETRY_AFTER: readonly (readonly [status: string, form: string, value: () => string])[] = [
  ["429 Too Many Requests", "in seconds", () => "280"],
  ["503 Service Unavailable", "as a date", () => new Date(Date.now() + 280_000).toUTCString()],
];

test.concurrent.for(RETRY_AFTER)(
  "fault 9: %s with Retry-After %s: the list is requested no sooner, website tests go on",
  async ([status, , retryAfter], { stage }) => {
    const headers = () => [`Retry-After: ${retryAfter()}`];
    const server = await stage.server(refuses(/^GET \S*\/virtual /, status, headers));
    const appliances = [entry("a", server, { websites: [1] })];
    const exporter = await stage.exporter({ config: { polling: POLLING, appliances } });
    await passMinutes(exporter, 2, 2);
    expect(countOf(server, "/virtual")).toBe(1);
    expect(orOneMore(3)).toContain(countOf(server, "/test"));
    // More than two minutes are left for a busy machine.
    exporter.leap(180_000);
    await eventually(() => expect(countOf(server, "/virtual")).toBe(2));
  },
);

test.concurrent("fault 41: one website's test is refused: that test alone is sent ever less often, the list and the others go on", async ({
  stage,
}) => {
  const server = await stage.server(refuses(/^GET \S*\/1\/test /, "403 Forbidden"));
  const exporter = await stage.exporter({
    config: {
      polling: POLLING,
      http_client: HTTP_CLIENT,
      appliances: [entry("a", server, { websites: [1, 2] })],
    },
    files: { password: "secret" },
  });
  await passMinutes(exporter, 4, 3);
  const [lists = 0, refused, others = 0] = ["/virtual", "/1/test", "/2/test"].map((path) =>
    countOf(server, path),
  );
  expect(refused).toBe(3);
  expect(orOneMore(5)).toContain(lists);
  expect(orOneMore(5)).toContain(others);
  const samples = await exporter.scrape();
  expect(samples.value("appliance_up")).toBe(1);
  const failures = samples.all("appliance_poll_failure_info");
  expect(failures.map(({ labels }) => [labels["website_id"], labels["reason"]])).toEqual([["1", "auth"]]);
});
