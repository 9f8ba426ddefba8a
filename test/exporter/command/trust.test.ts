import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/program/program.ts";
import type { Io } from "../../../src/exporter/command/command.ts";
import { answering, AUTHORITY, OK, serve, servePlain } from "../client/support.ts";
import { createFolder, type Files } from "../config/folder.ts";
import { selfSigned } from "../../support/certificates.ts";
import type { FaultServer } from "../../support/fault-server.ts";
import { COMMAND } from "../../support/command.ts";
import { createTestIo } from "../../support/io.ts";

const OTHER = Array.from({ length: 32 }, () => "AB").join(":");

interface Simulated {
  readonly server: FaultServer;
  readonly sha256: string;
  /** `2027-01-01T00:00:00Z` */
  readonly end: string;
}

/** The address, padded to its column; ports have five digits. */
function address({ server }: Simulated): string {
  return `127.0.0.1:${server.port}`.padEnd(15);
}

/** An appliance with a self-signed certificate of its own, without a name if none is given. */
async function simulate(name?: string): Promise<Simulated> {
  const pair = await selfSigned(name);
  const { fingerprint256, validTo } = new X509Certificate(pair.cert);
  return {
    server: await serve(answering(OK), pair),
    sha256: fingerprint256,
    end: new Date(validTo).toISOString().replace(".000Z", "Z"),
  };
}

function entry(name: string, port: number, more = ""): string {
  return `  - { name: ${name}, base_url: "https://127.0.0.1:${port}"${more} }\n`;
}

async function setUp(entries: readonly string[], files: Files = {}) {
  const folder = await createFolder({
    "config.yaml": `
http_client:
  basic_auth: { username: monitor, password: c4n4ry }
  tls_config: { known_certificates_file: known }
appliances:
${entries.join("")}`,
    ...files,
  });
  const known = join(folder, "known");
  const trust = async (argv: readonly string[] = [], fields: Partial<Io> = {}) => {
    const { io, printed } = await createTestIo(fields);
    const code = await runProgram(["trust", ...argv, `--config.file=${folder}/config.yaml`], io);
    return { code, ...printed };
  };
  return { folder, known, trust, text: () => readFile(known, "utf8") };
}

/** Answers questions and records them. */
function answers(...given: readonly string[]) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return given[questions.length - 1];
  };
  return { ask, questions };
}

test("80 appliances are trusted with one command, each with its own certificate, and without credentials", async () => {
  const names = Array.from({ length: 80 }, (_, index) => `waf-${index}`);
  const simulated = await Promise.all(names.map(simulate));
  const { trust, text } = await setUp(
    names.map((name, index) => entry(name, simulated[index]?.server.port ?? 0)),
  );
  const { ask, questions } = answers("y");
  const steps: string[] = [];
  const { code, out } = await trust([], { ask, progress: (step) => steps.push(step) });
  expect(steps.slice(-2)).toEqual(["80 of 80 appliances", ""]);
  expect(code).toBe(0);
  expect(questions).toEqual([
    "Compare each SHA-256 with the one that the appliance itself shows. Trust 80 certificates? [y/N] ",
  ]);
  expect(await text()).toBe(names.map((name, index) => `${name} ${simulated[index]?.sha256}\n`).join(""));
  expect(out.split("\n")).toHaveLength(1 + 80 + 2);
  expect(simulated.flatMap(({ server }) => server.requests)).toEqual([]);
});

test("the table has address, subject, end, fingerprint and state; others are added although one is unreachable", async () => {
  const [fresh, same, changed, nameless] = await Promise.all(
    ["fresh", "same", "changed", undefined].map(simulate),
  );
  if (!fresh || !same || !changed || !nameless) throw new Error("no appliances");
  const { known, trust, text } = await setUp(
    [
      entry("waf-1", fresh.server.port),
      entry("waf-2", same.server.port),
      entry("waf-3", changed.server.port),
      entry("waf-4", 1),
      entry("waf-5", 2, ", enabled: false"),
      entry("waf-6", 3, ", http_client: { tls_config: { certificate_sha256: [] } }"),
      entry("waf-7", nameless.server.port),
    ],
    { known: `# Amsterdam\nwaf-3 ${OTHER}\nwaf-2 ${same.sha256}\n` },
  );
  const { code, out, err } = await trust(["--yes"]);
  expect(code).toBe(1);
  expect(out).toBe(`APPLIANCE  ADDRESS          SUBJECT     VALID UNTIL           SHA256${" ".repeat(91)}STATE
waf-1      ${address(fresh)}  CN=fresh    ${fresh.end}  ${fresh.sha256}  new
waf-2      ${address(same)}  CN=same     ${same.end}  ${same.sha256}  known
waf-3      ${address(changed)}  CN=changed  ${changed.end}  ${changed.sha256}  changed
waf-4      127.0.0.1:1${" ".repeat(137)}connect: connect ECONNREFUSED 127.0.0.1:1
waf-7      ${address(nameless)}              ${nameless.end}  ${nameless.sha256}  new

What to do:
waf-4: Nothing listens there: check the port in base_url, and the management service of the appliance
${known}: certificates written: 2
`);
  expect(err).toBe(
    `waf-3: the certificate has changed from ${OTHER} to ${changed.sha256}; not replaced: confirm it on a terminal\n`,
  );
  expect(await text()).toBe(
    `# Amsterdam\nwaf-3 ${OTHER}\nwaf-2 ${same.sha256}\nwaf-1 ${fresh.sha256}\nwaf-7 ${nameless.sha256}\n`,
  );
});

test("a proxy that is ignored is named if an appliance without one of its own does not answer", async () => {
  const fields = { environment: (name: string) => (name === "HTTPS_PROXY" ? "http://192.0.2.9" : undefined) };
  const { trust } = await setUp([entry("waf-1", 1)]);
  expect((await trust([], fields)).err).toContain("HTTPS_PROXY of the environment is ignored; ");
  const own = await setUp([entry("waf-1", 1, ", http_client: { proxy_url: http://127.0.0.1:1 }")]);
  expect((await own.trust([], fields)).err).not.toContain("HTTPS_PROXY");
});

test("each changed certificate has its own question", async () => {
  const [one, two] = await Promise.all(["one", "two"].map(simulate));
  if (!one || !two) throw new Error("no appliances");
  const entries = [entry("waf-1", one.server.port), entry("waf-2", two.server.port)];
  const { trust, text } = await setUp(entries, {
    known: `waf-1 ${OTHER}\nwaf-2 ${OTHER.replaceAll(":", "").toLowerCase()}\n`,
  });
  const { ask, questions } = answers("no", "yes");
  expect((await trust([], { ask })).code).toBe(1);
  expect(questions).toEqual(
    [one, two].map(
      ({ sha256 }, index) =>
        `waf-${index + 1}: the certificate has changed from ${OTHER} to ${sha256}. Trust the new one? [y/N] `,
    ),
  );
  expect(await text()).toBe(`waf-1 ${OTHER}\nwaf-2 ${two.sha256}\n`);
});

test("without an answer nothing is written, and the flag that adds is named", async () => {
  const { server } = await simulate("one");
  const { trust, text } = await setUp([entry("waf-1", server.port)]);
  expect(await trust()).toMatchObject({
    code: 1,
    err: "not added; --yes adds new certificates without a question\n",
  });
  await expect(text()).rejects.toThrow("ENOENT");
});

test("a stop at a question writes nothing, not even what is confirmed", async () => {
  const simulated = await Promise.all(["one", "two"].map(simulate));
  const { folder, text } = await setUp(
    simulated.map(({ server }, index) => entry(`waf-${index}`, server.port)),
    { known: `waf-1 ${OTHER}\n` },
  );
  const questions: string[] = [];
  const { io, printed, stop } = await createTestIo({
    ask: async (question) => {
      questions.push(question);
      if (questions.length === 1) return "y";
      stop();
      return new Promise(() => {});
    },
  });
  expect(await runProgram(["trust", `--config.file=${folder}/config.yaml`], io)).toBe(1);
  expect(questions).toHaveLength(2);
  expect(printed.err).toBe("\ninterrupted: nothing is written\n");
  expect(await text()).toBe(`waf-1 ${OTHER}\n`);
});

test("named appliances are asked alone, disabled ones too", async () => {
  const [one, two] = await Promise.all(["one", "two"].map(simulate));
  if (!one || !two) throw new Error("no appliances");
  const entries = [entry("waf-1", one.server.port), entry("waf-2", two.server.port, ", enabled: false")];
  const { trust, text } = await setUp(entries);
  expect((await trust(["waf-2", "--yes"])).code).toBe(0);
  expect(await text()).toBe(`waf-2 ${two.sha256}\n`);
  expect(one.server.connections()).toBe(0);
});

test("an appliance behind a proxy is asked through the proxy", async () => {
  const { server, sha256 } = await simulate("one");
  const proxy = await servePlain(({ socket, onRequest }) => {
    onRequest(() => {
      const target = connect(server.port, "127.0.0.1", () => {
        socket.removeAllListeners("data");
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(target).pipe(socket);
      });
      target.on("error", () => socket.destroy());
    });
  });
  const http = `, http_client: { proxy_url: "http://127.0.0.1:${proxy.port}" }`;
  const { trust, text } = await setUp([`  - { name: waf-1, base_url: "https://waf.invalid"${http} }\n`]);
  expect((await trust(["--yes"])).code).toBe(0);
  expect(await text()).toBe(`waf-1 ${sha256}\n`);
});

test.each([
  ["# Amsterdam\n", 0o640],
  [undefined, 0o644],
])(
  "a link stays a link, a file with the text %j has the mode %i, and nothing else is left",
  async (text, mode) => {
    const { server, sha256 } = await simulate("one");
    const { folder, known, trust } = await setUp([entry("waf-1", server.port)], { "data/other": "" });
    const file = join(folder, "file");
    if (text !== undefined) await writeFile(file, text, { mode });
    for (const [target, name] of [
      ["data", "current"],
      ["current/known", "known"],
      ["../file", "data/known"],
    ] as const)
      await symlink(target, join(folder, name));
    expect((await trust(["--yes"])).code).toBe(0);
    expect(await readlink(known)).toBe("current/known");
    expect(await readFile(file, "utf8")).toBe(`${text ?? ""}waf-1 ${sha256}\n`);
    expect((await stat(file)).mode & 0o777).toBe(mode);
    expect((await readdir(folder)).toSorted()).toEqual(["config.yaml", "current", "data", "file", "known"]);
  },
);

test("a link named like a temporary file is neither followed nor replaced", async () => {
  const { server, sha256 } = await simulate("one");
  const { folder, trust, text } = await setUp([entry("waf-1", server.port)], { known: "", victim: "kept" });
  await symlink("victim", join(folder, "known.new"));
  expect((await trust(["--yes"])).code).toBe(0);
  expect(await text()).toBe(`waf-1 ${sha256}\n`);
  expect(await readFile(join(folder, "victim"), "utf8")).toBe("kept");
  expect((await readdir(folder)).toSorted()).toEqual(["config.yaml", "known", "known.new", "victim"]);
});

/** An appliance without a port, at the broadcast address, which no host has. */
function portless(name: string, kind: string): string {
  return `  - { name: ${name}, base_url: "https://127.255.255.255", kind: ${kind} }\n`;
}

test("advice about a port names the usual one of the kind of appliance", async () => {
  const { trust } = await setUp([portless("waf-1", "management_api"), portless("fw-1", "opnsense")]);
  const { out } = await trust();
  expect(out).toContain("waf-1: Add the port of the management API to base_url, such as :4849:");
  expect(out).toContain("fw-1: Check the address in base_url");
});

test("without a setting, the file is known_certificates beside the configuration, and polls use it", async () => {
  const { server, sha256 } = await simulate("one");
  const { folder } = await setUp([]);
  await writeFile(
    join(folder, "config.yaml"),
    `http_client: { basic_auth: { username: monitor, password: c4n4ry } }\nappliances:\n${entry("waf-1", server.port)}`,
  );
  const run = async (...argv: readonly string[]) => {
    const { io, printed } = await createTestIo();
    return { code: await runProgram([...argv, `--config.file=${folder}/config.yaml`], io), ...printed };
  };
  expect((await run("poll", "waf-1")).out).toContain(
    "waf-1: The certificate signs itself: run appliance-exporter trust",
  );
  expect((await run("trust", "--yes")).code).toBe(0);
  expect(await readFile(join(folder, "known_certificates"), "utf8")).toBe(`waf-1 ${sha256}\n`);
  expect((await run("poll", "waf-1")).code).toBe(0);
  expect((await run("trust")).out).toMatch(/ known\n$/);
});

test("a certificate of an authority that Node.js knows is signed, and not added; no credentials are sent", async () => {
  const server = await serve(answering(OK));
  const { folder } = await setUp([], { "ca.pem": AUTHORITY.cert });
  await writeFile(
    join(folder, "config.yaml"),
    `http_client: { basic_auth: { username: monitor, password: c4n4ry } }\nappliances:\n${entry("waf-1", server.port)}`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, "trust"], {
    cwd: folder,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") },
  });
  expect(stdout).toMatch(/^waf-1 .* signed\n$/m);
  expect((await readdir(folder)).toSorted()).toEqual(["ca.pem", "config.yaml"]);
  expect(server.requests.map(({ head }) => /^authorization:/im.test(head))).toEqual([false]);
});

test("a file that cannot be written is an error", async () => {
  const { server } = await simulate("one");
  const file = ", http_client: { tls_config: { known_certificates_file: missing/known } }";
  const { folder, trust } = await setUp([entry("waf-1", server.port, file)]);
  const { code, err } = await trust(["--yes"]);
  expect(code).toBe(1);
  expect(err).toContain(`cannot write ${folder}/missing/known: ${folder}/missing does not exist\n`);
});

test.each([
  [["waf-2"], 2, 'unknown appliance "waf-2"; FILE has waf-1\n'],
  [["waf-1"], 1, "FILE: set an https:// base_url and tls_config.known_certificates_file for waf-1\n"],
  [[], 1, "FILE: set an https:// base_url and tls_config.known_certificates_file for waf-1\n"],
])("%j without such appliances exits %i", async (names, code, err) => {
  const { folder, trust } = await setUp([
    `  - { name: waf-1, base_url: "http://127.0.0.1:1", allow_http: true }\n`,
  ]);
  expect(await trust(names)).toEqual({ code, out: "", err: err.replace("FILE", `${folder}/config.yaml`) });
});
