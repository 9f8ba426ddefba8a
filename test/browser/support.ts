import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { launchChromium } from "./chromium.ts";

/** What a page did while a test looked at it. */
export interface Watched {
  readonly page: Page;
  /** URLs of all requests. */
  readonly requests: readonly string[];
  /** Uncaught errors, errors on the console, and violations of the Content-Security-Policy, where the page runs scripts. */
  readonly errors: readonly string[];
}

/** What to do when a test is over; of several at once each has its own. */
export type OnFinished = (work: () => Promise<void>) => void;

export type OpenPage = (
  url: string,
  options?: BrowserContextOptions,
  onFinished?: OnFinished,
) => Promise<Watched>;

/** Far more than anything takes here; only what hangs reaches it. */
export const SOON = { timeout: 120_000, interval: 50 };

/** One browser for all tests of a file. Each page has a profile of its own. */
export function useBrowser(): OpenPage {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  return async (url, options = {}, onFinished = onTestFinished) => {
    if (browser === undefined) throw new Error("no browser");
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    onFinished(() => context.close());
    context.setDefaultTimeout(SOON.timeout);
    return watch(await context.newPage(), url);
  };
}

const TELL_VIOLATIONS = `
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    console.error("violation of " + violatedDirective + " by " + blockedURI));
`;

async function watch(page: Page, url: string): Promise<Watched> {
  const [requests, errors]: [string[], string[]] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !isNetworkError(message.text())) errors.push(message.text());
  });
  await page.addInitScript(TELL_VIOLATIONS);
  await page.goto(url);
  return { page, requests, errors };
}

/** Chromium's own words for a request that found nobody: that is what some tests are about. */
function isNetworkError(text: string): boolean {
  return text.startsWith("Failed to load resource");
}
