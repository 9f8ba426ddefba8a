import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Config, HttpClientConfig } from "../../../src/exporter/config/config.ts";
import { createUnpacker, loadInThread, packAppliances } from "../../../src/exporter/config/load-in-thread.ts";
import { NO_SETTINGS } from "../../../src/exporter/config/http-client.ts";
import { loadConfig, type ValidConfig } from "../../../src/exporter/config/load.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import { Secret } from "../../../src/support/secret.ts";
import { applianceOf } from "../../support/observations.ts";
import { createFolder } from "./folder.ts";

const CERTAIN = `
  - name: a
    base_url: https://a
    http_client:
      basic_auth: { username: u, password: hunter2 }
      proxy_url: http://monitor:hunter3@p`;
const fleet = (...appliances: readonly string[]) => `appliances:${appliances.join("")}\n`;
const entry = (name: string, host = name) => `\n  - { name: ${name}, base_url: "https://${host}" }`;

async function loaderOf(text: string, shard = WHOLE_FLEET) {
  const file = join(await createFolder({ "config.yaml": text }), "config.yaml");
  let running: ValidConfig | undefined;
  const tryToLoad = () =>
    running === undefined ? loadConfig(file, shard) : loadInThread({ file, shard }, running);
  const load = async (): Promise<Config> => {
    const result = await tryToLoad();
    if (!result.ok) throw new Error(JSON.stringify(result.errors));
    running = result;
    return running.config;
  };
  return { file, tryToLoad, load };
}

function withoutHttp({ appliances }: Config): readonly unknown[] {
  return appliances.map((appliance) => ({ ...appliance, http: undefined }));
}

test("a reload in a thread loads what a load in this thread does, its secrets included", async () => {
  const { file, load } = await loaderOf(fleet(entry("b")));
  await load();
  await writeFile(file, fleet(CERTAIN, entry("b")));
  const expected = await loadConfig(file);
  const config = await load();
  const [appliance] = config.appliances;
  const { basicAuth, proxy } = appliance?.http ?? {};
  expect(basicAuth?.password.kind === "inline" && basicAuth.password.secret.reveal()).toBe("hunter2");
  expect(proxy?.credentials?.reveal()).toBe("monitor:hunter3");
  expect(withoutHttp(config)).toEqual(expected.ok && withoutHttp(expected.config));
});

test("appliances that are configured as before are the same objects, in the order of the file", async () => {
  const many = Array.from({ length: 450 }, (_, nth) => entry(`fw${nth}`));
  const { file, load } = await loaderOf(fleet(CERTAIN, ...many));
  const before = (await load()).appliances;
  await writeFile(file, fleet(entry("new"), ...many.toReversed(), CERTAIN.replace("hunter2", "other")));
  const after = (await load()).appliances;
  expect(after.map(({ name }) => name)).toEqual([
    "new",
    ...before
      .slice(1)
      .map(({ name }) => name)
      .toReversed(),
    "a",
  ]);
  expect(after.slice(1, -1).every((appliance) => before.includes(appliance))).toBe(true);
  expect(before).not.toContain(after.at(-1));
});

test("after an invalid configuration, the appliances of the one before are the same objects", async () => {
  const { file, tryToLoad, load } = await loaderOf(fleet(entry("a")));
  const before = (await load()).appliances;
  await writeFile(file, "appliances: 1\n");
  const invalid = await tryToLoad();
  expect(invalid.ok ? [] : invalid.errors).toMatchObject([{ file, path: "appliances" }]);
  expect(invalid.sources).toHaveLength(1);
  await writeFile(file, fleet(entry("a")));
  expect((await load()).appliances[0]).toBe(before[0]);
});

function httpOf(password: string): HttpClientConfig {
  return {
    ...NO_SETTINGS,
    basicAuth: { username: "u", password: { kind: "inline", secret: new Secret(password) } },
    tls: { ...NO_SETTINGS.tls, ca: "a bundle" },
  };
}

test("what appliances share is shared after the hand-over, and their secrets arrive", () => {
  const [p, q] = [httpOf("p"), httpOf("q")];
  const appliances = [p, q, q].map((http, nth) => applianceOf({ name: `fw${nth}`, http }));
  const packed = structuredClone(packAppliances(appliances));
  const unpacked = packed.digests.map(createUnpacker(packed));
  expect(unpacked).toEqual(appliances);
  expect(unpacked[1]?.http).toBe(unpacked[2]?.http);
  const secrets = unpacked.map(({ http: { basicAuth } }) => basicAuth?.password);
  expect(secrets.map((each) => each?.kind === "inline" && each.secret.reveal())).toEqual(["p", "q", "q"]);
});

test("only the clusters of the shard are handed over", async () => {
  const names = Array.from({ length: 20 }, (_, nth) => `fw${nth}`);
  const text = fleet(...names.map((name) => entry(name)));
  const parts = [];
  for (const index of [0, 1]) {
    const { file, load } = await loaderOf(text, { index, total: 2 });
    const first = (await load()).appliances.map(({ name }) => name);
    await writeFile(file, text.replaceAll("https://fw", "https://other"));
    const second = (await load()).appliances.map(({ name }) => name);
    expect(second).toEqual(first);
    parts.push(second);
  }
  expect(parts.flat().toSorted()).toEqual(names.toSorted());
  expect(parts.every((part) => part.length > 0)).toBe(true);
});
