import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { createFolder, type Files } from "./folder.ts";

/** The shown `config.yaml`, with its folder as `/etc/x`. */
async function shownOf(files: Files): Promise<string> {
  const folder = await createFolder(files);
  const loaded = await loadConfig(join(folder, "config.yaml"));
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded.shown.replaceAll(folder, "/etc/x");
}

test("each file of the configuration is shown as written, without its secrets", async () => {
  const shown = await shownOf({
    "config.yaml": `
# a comment may hold a secret too: hunter2
polling: { vrrp: { interval: 5s } }
http_client:
  basic_auth: { username: monitor, password: hunter2 }
  proxy_url: http://user:hunter2@proxy.example:3128
appliances:
  - { name: lab, base_url: "https://192.0.2.31", labels: { site: "01" } }
config_files: [d/*.yaml]
`,
    "d/a.yaml": `
clusters:
  - name: ams
    http_client: { basic_auth: { username: monitor, password_file: p }, proxy_url: "http://proxy.example:3128" }
    appliances: [{ name: ams-1, base_url: "https://192.0.2.1" }]
appliances: [{ name: x, base_url: "https://192.0.2.2", enabled: false }]
`,
    "d/p": "hunter2",
  });
  expect(shown).toMatch(
    /^# "\/etc\/x\/config.yaml"\n\{\n {2}"polling": \{[^]*\n\}\n---\n# "\/etc\/x\/d\/a.yaml"\n\{\n {2}"clusters": \[/,
  );
  expect(parseAllDocuments(shown).map((document) => document.toJS())).toEqual([
    {
      polling: { vrrp: { interval: "5s" } },
      http_client: {
        basic_auth: { username: "monitor", password: "<secret>" },
        proxy_url: "http://<secret>@proxy.example:3128",
      },
      appliances: [{ name: "lab", base_url: "https://192.0.2.31", labels: { site: "01" } }],
      config_files: ["d/*.yaml"],
    },
    {
      clusters: [
        {
          name: "ams",
          http_client: {
            basic_auth: { username: "monitor", password_file: "p" },
            proxy_url: "http://proxy.example:3128",
          },
          appliances: [{ name: "ams-1", base_url: "https://192.0.2.1" }],
        },
      ],
      appliances: [{ name: "x", base_url: "https://192.0.2.2", enabled: false }],
    },
  ]);
});

test.each(["http://a@b@h", "http://a:b%40c@h", "http://a@h:3128/", "HTTP://a:@h"])(
  "the credentials of the proxy %s are not shown",
  async (url) => {
    const shown = await shownOf({
      "config.yaml": `http_client: { proxy_url: "${url}" }\nappliances: []\n`,
    });
    expect(shown).toMatch(/"proxy_url": "http:\/\/<secret>@h(:3128\/)?"$/im);
  },
);
