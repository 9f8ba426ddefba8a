import { readFile } from "node:fs/promises";
import { builtFile } from "../../support/built.ts";
import { head } from "./page.ts";
import { html, nothing, type Html } from "./view/html.ts";

/**
 * Reads the runbook that the build made of docs/runbook.md; returns a page without a script. `assets` is the folder of the status page's
 * files.
 */
export async function loadRunbook(assets: string): Promise<string> {
  const sections: Html = { text: await readFile(builtFile("page/runbook.html"), "utf8") };
  return html`<!doctype html>
    <html lang="en">
      ${head("Runbook – appliance-exporter", assets, { level: "unknown", script: nothing })}
      <body>
        <header>
          <p class="brand">appliance-exporter</p>
          <p class="note">
            <a href="./">Status page</a>. Files such as docs/reference/metrics.md are installed with the
            exporter.
          </p>
        </header>
        <main class="document">${sections}</main>
      </body>
    </html> `.text;
}
