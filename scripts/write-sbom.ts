// The program writes dist/sbom.cdx.json, which lists the libraries in the bundles as a CycloneDX bill of materials. npm knows all packages
// of the lockfile, and dist/LICENCES.txt names the bundled ones.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { buildVersion, sourceDateEpoch } from "./build-info.ts";
import type { Sbom } from "./package/sbom.ts";

const FLAGS = ["--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only", "--include=dev"];

const licences = readFileSync("dist/LICENCES.txt", "utf8");
const bundled = new Set(
  Array.from(licences.matchAll(/^(\S+) (\d+\.\S+): \S+$/gm), ([, name, version]) => `${name}@${version}`),
);
const sbom: Sbom = JSON.parse(execFileSync("npm", ["sbom", ...FLAGS], { encoding: "utf8" }));
const { component } = sbom.metadata;
const components = sbom.components.filter((each) => bundled.has(each["bom-ref"]));
if (components.length !== bundled.size)
  throw new Error("dist/LICENCES.txt names packages that package-lock.json does not have");
const epoch = sourceDateEpoch();
const version = buildVersion();
const programRef = `appliance-exporter@${version}`;

const shipped = {
  ...sbom,
  // npm makes a random serial number.
  serialNumber: undefined,
  metadata: {
    ...sbom.metadata,
    timestamp: epoch === undefined ? undefined : new Date(Number(epoch) * 1000).toISOString(),
    lifecycles: [{ phase: "build" }],
    // npm takes the name of the folder, and the version of package.json.
    component: {
      ...component,
      name: "appliance-exporter",
      version,
      "bom-ref": programRef,
      purl: `pkg:npm/${programRef}`,
    },
  },
  // npm lists as optional what the tools of the build need, too.
  components: components.map((each) => ({ ...each, scope: "required", properties: [] })),
  dependencies: sbom.dependencies
    .filter(({ ref }) => ref === component["bom-ref"] || bundled.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref: ref === component["bom-ref"] ? programRef : ref,
      dependsOn: dependsOn.filter((each) => bundled.has(each)),
    })),
};
writeFileSync("dist/sbom.cdx.json", `${JSON.stringify(shipped, null, 2)}\n`);
