import { AppError } from "../../../errors.js";
import type { Route } from "../../exchange.js";
import { sendRestError } from "../../sendError.js";
import { createPage } from "../page.js";
import { createTokenPage, type DemoToken } from "../token.js";
import { type DemoShop, demoPage } from "./page.js";
import { pictureFile, picturedIds, picturePath } from "./pictures.js";

export const demoPath = "/demo";

/** Undefined where the demo store is not served. */
export type FindDemoShop = () => DemoShop | undefined;

/** Anybody may open it; its link opens the dashboard for browsers on this machine alone. */
export function createDemoRoute(demoShop: FindDemoShop, demoToken: DemoToken): Route {
  let made: { readonly shop: DemoShop; readonly page: Route } | undefined;
  return (exchange) => {
    const shop = demoShop();
    if (shop === undefined) return sendRestError(exchange, noDemo());
    if (made?.shop !== shop) made = { shop, page: createTokenPage((token) => demoPage(shop, token), demoToken) };
    return made.page(exchange);
  };
}

/** Pictures of the demo's products, where the demo store is served. */
export function pictureRoutes(demoShop: FindDemoShop): [path: string, route: Route][] {
  return picturedIds.map((id) => {
    const picture = createPage("image/svg+xml", () => pictureFile(id), { cacheControl: "public, max-age=3600" });
    return [
      picturePath(id),
      (exchange) => (demoShop() === undefined ? sendRestError(exchange, noDemo()) : picture(exchange)),
    ];
  });
}

const noDemo = () => new AppError("NOT_FOUND", "There is no demo store here.");
