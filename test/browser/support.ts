import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, inject, onTestFinished } from "vitest";

/** What a page did while a test looked at it. */
export interface Watched {
  readonly page: Page;
  /** URLs of all requests. */
  readonly requests: readonly string[];
  /** Uncaught errors, errors on the console, and violations of the Content-Security-Policy. */
  readonly errors: readonly string[];
}

export type OpenPage = (url: string, options?: BrowserContextOptions) => Promise<Watched>;

/** Far more than anything takes here; only what hangs reaches it. */
export const SOON = { timeout: 20_000, interval: 50 };

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
function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}

/** One browser for all tests of a file, which are skipped where there is none; each page has a profile of its own. */
export function useBrowser(): OpenPage {
  const tool = inject("chromium");
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (tool.ok) browser = await launchChromium(tool.path);
  });
  afterAll(() => browser?.close());
  beforeEach(({ skip }) => {
    if (!tool.ok) skip(tool.reason);
  });
  return (url, options) => {
    if (browser === undefined) throw new Error("no browser");
    return open(browser, url, options);
  };
}

async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const [requests, errors]: [string[], string[]] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // A refused policy is told on the console as well.
    if (message.type() === "error" && !isNetworkError(message.text())) errors.push(message.text());
  });
  await page.goto(url);
  return { page, requests, errors };
}

/** Chromium's own words for a request that found nobody: that is what some tests are about. */
function isNetworkError(text: string): boolean {
  return text.startsWith("Failed to load resource");
}
