import { readFileSync } from "node:fs";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** The README's commands, a text for each block, in their order; what follows a line's `#` is left out. */
export const commands: readonly string[] = blocks("sh").flatMap((block) =>
  block
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => line !== ""),
);

/** Its pieces of YAML, with the indentation of their list items taken away. */
export const yamls: readonly string[] = blocks("yaml");

function blocks(language: string): readonly string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\`$`, "gms");
  return Array.from(readme.matchAll(fence), ([, indentation = "", text = ""]) =>
    text.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  );
}
