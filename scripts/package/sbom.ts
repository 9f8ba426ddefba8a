import { readFileSync, writeFileSync } from "node:fs";

interface Component {
  readonly "bom-ref": string;
  readonly [key: string]: unknown;
}

/** The parts of a CycloneDX bill of materials, as npm writes it, that the scripts change. */
export interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Adds the program's dependencies, besides the libraries in it. */
export function addToSbom(path: string, component: Component): void {
  const sbom: Sbom = JSON.parse(readFileSync(path, "utf8"));
  const program = sbom.metadata.component["bom-ref"];
  const ref = component["bom-ref"];
  const dependencies = sbom.dependencies.map((each) =>
    each.ref === program ? { ...each, dependsOn: [...each.dependsOn, ref] } : each,
  );
  const extended = {
    ...sbom,
    components: [...sbom.components, component],
    dependencies: [...dependencies, { ref, dependsOn: [] }],
  };
  writeFileSync(path, `${JSON.stringify(extended, null, 2)}\n`);
}
