import type { ConfigError, WebsiteConfig } from "../config.ts";
import type { Chain } from "./scope.ts";
import { errorAt } from "../yaml/file.ts";

/** The websites of all blocks along the chain, the outer ones first. */
export function resolveWebsites(chain: Chain): readonly WebsiteConfig[] {
  return chain.flatMap(({ websites = [] }) => websites.flatMap((website) => website ?? []));
}

/** An error at every website whose id an appliance already has, from its own list or its cluster's. */
export function checkWebsites(chain: Chain): readonly ConfigError[] {
  const seen = new Set<number>();
  return chain.flatMap(({ file, path, websites = [] }) =>
    websites.flatMap((website, index) => {
      if (website === undefined) return [];
      const again = seen.has(website.id);
      seen.add(website.id);
      const message = `website ${website.id} is already there`;
      return again ? [errorAt(file, [...path, "websites", index], message)] : [];
    }),
  );
}
