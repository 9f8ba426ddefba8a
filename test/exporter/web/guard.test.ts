import { describe, expect, test, vi } from "vitest";
import { clientOf } from "../../../src/exporter/web/connections.ts";
import { ask, basic, HASH, routes, startSecured } from "./support.ts";

// Passwords are checked in threads, many one after the other.
vi.setConfig({ testTimeout: 30_000 });

const USERS = `basic_auth_users: { monitor: $2y$${HASH} }`;
const KNOWN = basic("monitor:correct horse");
/** A hash that matches no password. */
const unmatched = (cost: string) => `$2b$${cost}$${".".repeat(53)}`;

async function statusOf(port: number, path: string, headers = {}): Promise<number> {
  return (await ask(port, path, { headers })).status;
}

describe("basic authentication", () => {
  test.each(["$2a$", "$2b$", "$2y$"])("accepts hashes that start with %s", async (prefix) => {
    const { port } = await startSecured(`basic_auth_users: { monitor: "${prefix}${HASH}" }`);
    for (const password of ["correct", "correct", "wrong", "wrong"])
      expect(await statusOf(port, "/metrics", basic(`monitor:${password} horse`))).toBe(
        password === "correct" ? 200 : 401,
      );
  });

  test.each([
    ["nothing", {}],
    ["another scheme", { authorization: "Bearer monitor" }],
    ["no colon", basic("monitor")],
    ["no Base64", { authorization: "Basic !!!" }],
    ["an unknown user", basic("nobody:correct horse")],
    ["an inherited name", basic("__proto__:correct horse")],
    ["an empty password", basic("monitor:")],
    ["a password cut by NUL", basic("monitor:correct horse\0")],
  ])("refuses %s with 401 and a challenge", async (_, headers) => {
    const { port } = await startSecured(USERS);
    const { status, headers: got, body } = await ask(port, "/metrics", { headers });
    expect({ status, body: body.toString(), challenge: got["www-authenticate"] }).toEqual({
      status: 401,
      body: "Unauthorized\n",
      challenge: 'Basic realm="appliance-exporter", charset="UTF-8"',
    });
  });

  test.each([
    {
      routePrefix: "",
      open: ["/-/healthy", "/-/ready", "/-/healthy?x=1"],
      closed: ["/", "/metrics", "/-/healthy/", "/-/readyx", "//-/ready", "/-/reload", "/nowhere"],
    },
    {
      routePrefix: "/exporter",
      open: ["/exporter/-/healthy", "/exporter/-/ready?x=1", "http://any.example/exporter/-/healthy"],
      closed: [
        "/exporter/metrics",
        "http://any.example/exporter/metrics",
        "/",
        "/exporter",
        "/nowhere",
        "/-/healthy",
        "/exporter/exporter/-/healthy",
      ],
    },
  ])(
    "under the prefix '$routePrefix' protects every path except the health checks",
    async ({ routePrefix, open, closed }) => {
      const { port } = await startSecured(USERS, {}, routes(), routePrefix);
      const statuses = async (paths: readonly string[]) =>
        new Set(await Promise.all(paths.map((path) => statusOf(port, path))));
      expect(await statuses(open)).toEqual(new Set([200]));
      expect(await statuses(closed)).toEqual(new Set([401]));
      expect((await ask(port, "/metrics", { method: "POST" })).status).toBe(401);
      expect(await statusOf(port, "/nowhere", KNOWN)).toBe(404);
    },
  );

  test("uses a changed hash after a reload, although the old result was cached", async () => {
    const { port, write, reload } = await startSecured(USERS);
    expect(await statusOf(port, "/metrics", KNOWN)).toBe(200);
    await write("web.yaml", `basic_auth_users: { monitor: ${unmatched("04")} }`);
    expect(await reload()).toEqual([]);
    expect(await statusOf(port, "/metrics", KNOWN)).toBe(401);
    await write("web.yaml", "{}");
    expect(await reload()).toEqual([]);
    expect(await statusOf(port, "/metrics")).toBe(200);
  });

  test("admits a known user at once during password guessing", async () => {
    const { port } = await startSecured(
      `basic_auth_users: { monitor: "$2y$${HASH}", dear: "${unmatched("12")}" }`,
    );
    expect(await statusOf(port, "/metrics", KNOWN)).toBe(200);
    // Requests that still wait when the server stops get no response.
    const guess = (index: number) =>
      ask(port, "/metrics", { headers: basic(`dear:${index}`) }).catch(() => undefined);
    const guesses = Array.from({ length: 150 }, (_, index) => guess(index));
    expect(await Promise.race(guesses.slice(1, 100))).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    const first = await Promise.race([
      Promise.all(guesses.slice(140)).then(() => "ten guesses"),
      statusOf(port, "/metrics", KNOWN).then((status) => `known: ${status}`),
    ]);
    expect(first).toBe("known: 200");
  });
});

test("headers are set on every response, also on refusals and outside the prefix", async () => {
  const { port } = await startSecured(
    `http_server_config:
  headers:
    Content-Security-Policy: |
      default-src 'self';
      img-src 'none'
    Strict-Transport-Security: max-age=63072000
    X-Content-Type-Options: nosniff
    X-Frame-Options: deny
    X-XSS-Protection: 0
${USERS}
`,
    {},
    routes(),
    "/exporter",
  );
  for (const [path, given, status] of [
    ["/exporter/", KNOWN, 200],
    ["/exporter/metrics", KNOWN, 200],
    ["/exporter/-/healthy", {}, 200],
    ["/exporter/nowhere", KNOWN, 404],
    ["/", KNOWN, 302],
    ["/nowhere", KNOWN, 404],
    ["/exporter/metrics", {}, 401],
  ] as const)
    expect(await ask(port, path, { headers: given })).toMatchObject({
      status,
      headers: {
        "content-security-policy": "default-src 'self'; img-src 'none'",
        "strict-transport-security": "max-age=63072000",
        "x-content-type-options": "nosniff",
        "x-frame-options": "deny",
        "x-xss-protection": "0",
      },
    });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::1", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  [undefined, ""],
])("the client at %s is %s", (address, client) => {
  expect(clientOf(address)).toBe(client);
});
