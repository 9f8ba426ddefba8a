import { describe, expect, test } from "vitest";
import { routes } from "../support.ts";
import { get, HASH, startSecured } from "./support.ts";

const basic = (credentials: string) => ({
  authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
});
const USERS = `basic_auth_users: { monitor: $2y$${HASH} }`;

function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  return get(port, path, { plain: true, headers, method });
}

const startUnderPrefix = (yaml: string) => startSecured(yaml, {}, routes(), "/exporter");

describe("basic authentication", () => {
  test.each(["$2a$", "$2b$", "$2y$"])("accepts hashes that start with %s", async (prefix) => {
    const { port } = await startSecured(`basic_auth_users: { monitor: "${prefix}${HASH}" }`);
    expect((await ask(port, "/metrics", basic("monitor:correct horse"))).status).toBe(200);
    expect((await ask(port, "/metrics", basic("monitor:correct horse"))).status).toBe(200);
    expect((await ask(port, "/metrics", basic("monitor:wrong horse"))).status).toBe(401);
    expect((await ask(port, "/metrics", basic("monitor:wrong horse"))).status).toBe(401);
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
    const { status, headers: got, body } = await ask(port, "/metrics", headers);
    expect({ status, body, challenge: got["www-authenticate"] }).toEqual({
      status: 401,
      body: "Unauthorized\n",
      challenge: 'Basic realm="appliance-exporter", charset="UTF-8"',
    });
  });

  test("protects every page except the health checks", async () => {
    const { port } = await startSecured(USERS);
    const paths = [
      "/-/healthy",
      "/-/ready",
      "/-/healthy?x=1",
      "/",
      "/metrics",
      "/-/healthy/",
      "/-/readyx",
      "//-/ready",
    ];
    const statuses = await Promise.all(
      paths.map(async (path) => `${path} ${(await ask(port, path)).status}`),
    );
    expect(statuses).toEqual([
      "/-/healthy 200",
      "/-/ready 200",
      "/-/healthy?x=1 200",
      "/ 401",
      "/metrics 401",
      "/-/healthy/ 401",
      "/-/readyx 401",
      "//-/ready 401",
    ]);
    expect((await ask(port, "/metrics", {}, "POST")).status).toBe(401);
  });

  test("uses a changed hash after a reload, although the old result was cached", async () => {
    const { port, write, reload } = await startSecured(USERS);
    expect((await ask(port, "/metrics", basic("monitor:correct horse"))).status).toBe(200);
    await write("web.yaml", `basic_auth_users: { monitor: $2y$04$${".".repeat(53)} }`);
    expect(await reload()).toEqual([]);
    expect((await ask(port, "/metrics", basic("monitor:correct horse"))).status).toBe(401);
    await write("web.yaml", "{}");
    expect(await reload()).toEqual([]);
    expect((await ask(port, "/metrics")).status).toBe(200);
  });

  test("admits a known user at once during password guessing", async () => {
    const { port } = await startSecured(
      `basic_auth_users: { monitor: "$2y$${HASH}", dear: "$2b$12$${".".repeat(53)}" }`,
    );
    expect((await ask(port, "/metrics", basic("monitor:correct horse"))).status).toBe(200);
    // Requests that still wait when the server stops get no response.
    const guess = (index: number) => ask(port, "/metrics", basic(`dear:${index}`)).catch(() => undefined);
    const guesses = Array.from({ length: 150 }, (_, index) => guess(index));
    expect(await Promise.race(guesses.slice(1, 100))).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    const first = await Promise.race([
      Promise.all(guesses.slice(140)).then(() => "ten guesses"),
      ask(port, "/metrics", basic("monitor:correct horse")).then(({ status }) => `known: ${status}`),
    ]);
    expect(first).toBe("known: 200");
  });

  test("responds with 503 after five seconds of waiting", async () => {
    const { port } = await startSecured(`basic_auth_users: { dear: "$2b$12$${".".repeat(53)}" }`);
    const guesses = Array.from({ length: 90 }, (_, index) => ask(port, "/metrics", basic(`dear:${index}`)));
    const answers = await Promise.all(guesses);
    // The speed of the machine determines how many are refused before.
    expect([401, 503]).toEqual(expect.arrayContaining([...new Set(answers.map(({ status }) => status))]));
    const tired = answers.filter(({ status }) => status === 503);
    expect(new Set(tired.map(({ headers }) => headers["retry-after"]))).toEqual(new Set(["1"]));
  });

  test("takes as long for an unknown user as for a known one", async () => {
    const { port } = await startSecured(`basic_auth_users: { dear: "$2b$11$${".".repeat(53)}" }`);
    const timed = async (credentials: string): Promise<number> => {
      const fromMs = performance.now();
      await ask(port, "/metrics", basic(credentials));
      return performance.now() - fromMs;
    };
    const known = [await timed("dear:1"), await timed("dear:2")];
    const unknown = [await timed("nobody:1"), await timed("nobody:2")];
    expect(Math.max(...unknown)).toBeGreaterThan(Math.min(...known) / 4);
  });
});

describe("under a prefix", () => {
  test("paths outside of it require a password too, and the health checks stay open", async () => {
    const { port } = await startUnderPrefix(USERS);
    const paths = [
      "/exporter/-/healthy",
      "/exporter/-/ready?x=1",
      "http://any.example/exporter/-/healthy",
      "/exporter/metrics",
      "http://any.example/exporter/metrics",
      "/",
      "/exporter",
      "/nowhere",
      "/-/healthy",
      "/exporter/exporter/-/healthy",
    ];
    const statuses = await Promise.all(
      paths.map(async (path) => `${path} ${(await ask(port, path)).status}`),
    );
    expect(statuses).toEqual([
      "/exporter/-/healthy 200",
      "/exporter/-/ready?x=1 200",
      "http://any.example/exporter/-/healthy 200",
      "/exporter/metrics 401",
      "http://any.example/exporter/metrics 401",
      "/ 401",
      "/exporter 401",
      "/nowhere 401",
      "/-/healthy 401",
      "/exporter/exporter/-/healthy 401",
    ]);
    const known = basic("monitor:correct horse");
    expect((await ask(port, "/", known)).status).toBe(302);
    expect((await ask(port, "/nowhere", known)).status).toBe(404);
  });

  test("paths outside of it have the headers too", async () => {
    const { port } = await startUnderPrefix("http_server_config: { headers: { X-Frame-Options: deny } }");
    const answers = [await ask(port, "/"), await ask(port, "/nowhere")];
    expect(answers.map(({ status }) => status)).toEqual([302, 404]);
    for (const { headers } of answers) expect(headers).toMatchObject({ "x-frame-options": "deny" });
  });
});

describe("headers", () => {
  const HEADERS = `http_server_config:
  headers:
    Content-Security-Policy: |
      default-src 'self';
      img-src 'none'
    Strict-Transport-Security: max-age=63072000
    X-Content-Type-Options: nosniff
    X-Frame-Options: deny
    X-XSS-Protection: 0
`;
  const EXPECTED = {
    "content-security-policy": "default-src 'self'; img-src 'none'",
    "strict-transport-security": "max-age=63072000",
    "x-content-type-options": "nosniff",
    "x-frame-options": "deny",
    "x-xss-protection": "0",
  };

  test.each(["/", "/metrics", "/-/healthy", "/nowhere"])("are set on %s", async (path) => {
    const { port } = await startSecured(HEADERS);
    expect((await ask(port, path)).headers).toMatchObject(EXPECTED);
  });

  test("are set on a 401 too", async () => {
    const { port } = await startSecured(`${HEADERS}${USERS}\n`);
    expect(await ask(port, "/metrics")).toMatchObject({ status: 401, headers: EXPECTED });
  });
});
