import { chromium, type Browser } from "playwright-core";
import { toolPath } from "../support/tool.ts";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A headless Chromium with an empty profile. Without windows and extensions, pages take half as much of a processor. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: toolPath("chromium-headless-shell"), args: FLAGS });
}
