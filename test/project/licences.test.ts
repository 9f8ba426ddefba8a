import { readFileSync } from "node:fs";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import bundles from "../../rolldown.config.ts";

/** The packages that a bundle contains, as `name version`. */
async function packagesIn({ output, ...input }: (typeof bundles)[number]): Promise<readonly string[]> {
  const bundle = await rolldown(input);
  const generated = await bundle.generate([output].flat()[0]);
  const modules = generated.output.flatMap((each) => (each.type === "chunk" ? each.moduleIds : []));
  return modules.flatMap((id) => {
    const [folder] = /^.*\/node_modules\/(@[^/]+\/)?[^/]+\//.exec(id) ?? [];
    if (folder === undefined) return [];
    const { name, version } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
    return `${name} ${version}`;
  });
}

test("the licences of all packages in the bundles are in dist", async () => {
  const packages = new Set((await Promise.all(bundles.map(packagesIn))).flat());
  const licences = readFileSync("dist/LICENCES.txt", "utf8");
  const licensed = Array.from(licences.matchAll(/^(\S+ \d+\.\S+): \S+$/gm), ([, name]) => name);
  expect(new Set(licensed)).toEqual(packages);
});
