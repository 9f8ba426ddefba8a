/** The blocks of a Markdown page in a language, in order. */
export function codeBlocks(page: string, language: string): readonly string[] {
  const blocks = page.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\``, "gm"));
  return Array.from(blocks, ([, indent = "", text = ""]) =>
    text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}
