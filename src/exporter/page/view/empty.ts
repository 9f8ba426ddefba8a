import { html, type Html } from "./html.ts";

/** The first lines of a configuration that polls something. */
export const FIRST_LINES = `http_client:
  basic_auth: { username: monitor, password_file: secrets/monitor }
clusters:
  - name: ams
    appliances:
      - { name: waf-ams-1, base_url: "https://192.0.2.11:4849" }
`;

/** Returns what is shown in place of clusters while the configuration has none. */
export function emptyFleet(): Html {
  return html`<section id="fleet" tabindex="-1" aria-label="Clusters">
    <p>A configuration begins like this:</p>
    <pre>${FIRST_LINES}</pre>
    <p class="note">
      Add the other members below appliances. The exporter takes a change at the next reload.
    </p>
  </section>`;
}
