import { chromium, type Browser } from "playwright-core";
import { findDebianTools } from "../support/debian-tool.ts";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A headless Chromium with an empty profile. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}

/** The same for a script of its own, which has nobody who has found it. Rejects where there is none. */
export async function findAndLaunchChromium(): Promise<Browser> {
  const wanted = [{ command: "chromium", packageName: "chromium" }];
  const tool = findDebianTools(wanted, (text) => process.stderr.write(`${text}\n`))("chromium");
  if (!tool.ok) throw new Error(tool.reason);
  return launchChromium(tool.path);
}
