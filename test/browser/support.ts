import axe, { type AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { FleetDocument } from "../../src/exporter/document/schema.ts";
import type { Strips } from "../../src/exporter/view/strip.ts";
import { launchChromium } from "./chromium.ts";
import { startFleetServer, type FleetServer } from "./fleet-server.ts";

/** An open page and what it did. */
export interface Watched {
  readonly page: Page;
  /** URLs of all requests. */
  readonly requests: readonly string[];
  /** Uncaught errors, errors on the console, and violations of the Content-Security-Policy, where the page runs scripts. */
  readonly errors: readonly string[];
}

/** Registers work for the end of a test; concurrent tests have one each. */
export type OnFinished = (work: () => Promise<void>) => void;

export type OpenPage = (
  url: string,
  options?: BrowserContextOptions,
  onFinished?: OnFinished,
) => Promise<Watched>;

/** Far more than any step takes. */
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

export interface FleetPageOptions extends BrowserContextOptions {
  /** Of the page's URL. */
  readonly query?: string;
  /** The server's clock; by default the system's. */
  readonly wallMs?: () => number;
  /** By default as the document says. */
  readonly timelines?: Strips;
  readonly onFinished?: OnFinished;
}

/** Opens the page of a server that shows a document, and waits until it is live if it runs scripts. */
export function useFleetPage(): (
  document: FleetDocument,
  options?: FleetPageOptions,
) => Promise<Watched & { readonly server: FleetServer }> {
  const open = useBrowser();
  return async (
    document,
    { query = "", wallMs, timelines, onFinished = onTestFinished, ...options } = {},
  ) => {
    const server = await startFleetServer(document, wallMs, onFinished, timelines);
    const watched = await open(`${server.url}${query}`, options, onFinished);
    if (options.javaScriptEnabled !== false)
      await watched.page.locator("html[data-connection=live]").waitFor();
    return { server, ...watched };
  };
}

/** The violations that axe finds: rule and elements. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // As text: the page's policy does not apply, and no compiler rewrites it.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
}

/** What the page says about its connection. */
export function connectionOf(page: Page): Promise<string | null> {
  return page.evaluate(() => document.documentElement.getAttribute("data-connection"));
}

const REPORT_VIOLATIONS = `
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
  await page.addInitScript(REPORT_VIOLATIONS);
  await page.goto(url);
  return { page, requests, errors };
}

/** Chromium's message for a request without a response, which some tests cause. */
function isNetworkError(text: string): boolean {
  return text.startsWith("Failed to load resource");
}
