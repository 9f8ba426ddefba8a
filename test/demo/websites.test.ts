import { request } from "node:http";
import { request as requestSecurely, type RequestOptions } from "node:https";

import { describe, expect, it, onTestFinished } from "vitest";

import { createCleanup } from "../../src/demo/cleanup.ts";
import type { Condition, WebsiteName } from "../../src/demo/scenario.ts";
import { startWebsites } from "../../src/demo/websites.ts";
import { createAuthority } from "../support/certificates.ts";

const AUTHORITY = await createAuthority();

async function startTestWebsites(conditionOf: (name: WebsiteName) => Condition = () => "up") {
  const cleanup = createCleanup();
  const websites = await startWebsites(await AUTHORITY.issue(), conditionOf, cleanup);
  onTestFinished(() => cleanup.run());
  return websites;
}

/** The status of an answer to HEAD and where it leads, or the code of the error. */
function head(url: string): Promise<string> {
  const options: RequestOptions = { method: "HEAD", agent: false, ca: AUTHORITY.cert };
  const sent = url.startsWith("https:") ? requestSecurely(url, options) : request(url, options);
  sent.end();
  return new Promise((resolve) => {
    sent.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.once("response", ({ statusCode, headers: { location } }) => {
      resolve(location === undefined ? `${statusCode}` : `${statusCode} to ${location}`);
      sent.destroy();
    });
  });
}

describe("the demo's websites", () => {
  it("use http, https, and both with a redirect to https", async () => {
    const websites = await startTestWebsites();
    const [blog, shop, portal] = websites;
    expect(
      websites.map(
        ({ name, urls }) => `${name} ${urls.map((url) => url.replace(/\d{5}/, "PORT")).join(" ")}`,
      ),
    ).toEqual([
      "blog http://127.0.0.1:PORT/",
      "shop https://127.0.0.1:PORT/",
      "portal http://127.0.0.1:PORT/ https://127.0.0.1:PORT/",
    ]);
    expect(await Promise.all([...(blog?.urls ?? []), ...(shop?.urls ?? [])].map(head))).toEqual([
      "200",
      "200",
    ]);
    expect(await Promise.all((portal?.urls ?? []).map(head))).toEqual([`301 to ${portal?.urls[1]}`, "200"]);
  });

  it("fail, hang up and come back", async () => {
    let condition: Condition = "up";
    const websites = await startTestWebsites(() => condition);
    const heads = () => Promise.all(websites.flatMap(({ urls }) => urls).map(head));
    const before = await heads();
    condition = "failing";
    expect(await heads()).toEqual(before.map(() => "503"));
    condition = "hanging up";
    expect(await heads()).toEqual(before.map(() => "ECONNRESET"));
    condition = "up";
    expect(await heads()).toEqual(before);
  });
});
