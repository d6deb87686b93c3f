import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin, type UserConfig } from "vite";
import * as ofIntervals from "./queries/intervals.js";
import * as ofOrders from "./queries/orders.js";
import * as ofShows from "./queries/show.js";
import * as ofStore from "./queries/store.js";

/** Lists the page's operations, for servers that only run persisted operations. */
const operationsFile: Plugin = {
  name: "operations-file",
  generateBundle() {
    this.emitFile({
      type: "asset",
      fileName: "operations.json",
      source: JSON.stringify(Object.values({ ...ofShows, ...ofStore, ...ofOrders, ...ofIntervals })),
    });
  },
};

/**
 * Addresses are relative, because a proxy may serve the page below any path. The page's address is `dashboard`, not
 * `dashboard/`.
 */
const builtAddress: NonNullable<NonNullable<UserConfig["experimental"]>["renderBuiltUrl"]> = (name, { hostType }) =>
  hostType === "html" ? `dashboard/${name}` : { relative: true };

/** Bundles the page into dist/dashboard: index.html, operations.json, and a script and a style with hashed names. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  experimental: { renderBuiltUrl: builtAddress },
  plugins: [operationsFile],
  publicDir: false,
  logLevel: "warn",
  build: {
    target: "es2022",
    cssTarget: ["chrome111", "firefox113", "safari16.4"], // unnests rules, which these browsers do not know
    assetsInlineLimit: 0, // inlined images would be data: URLs, which our policy refuses
    modulePreload: { polyfill: false },
  },
});
