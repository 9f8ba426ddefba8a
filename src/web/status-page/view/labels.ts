import { html, nothing, type Html } from "./html.ts";

export function labelList(labels: Readonly<Record<string, string>>): Html {
  const entries = Object.entries(labels);
  if (entries.length === 0) return nothing;
  const items = entries.map(([name, value]) => html`<span>${name}=${value}</span> `);
  return html`<span class="labels">${items}</span>`;
}
