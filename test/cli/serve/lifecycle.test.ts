import { expect, test } from "vitest";
import { banner } from "../../../src/cli/serve/lifecycle.js";
import { readConfig } from "../../../src/config.js";

const url = "http://127.0.0.1:4000";
const show = { id: "autumn-looks", name: "Autumn looks" };
const demo = {
  store: "demo",
  token: "a-demo-token-of-my-own",
  readOnlyToken: "vt_reads",
  productId: "linen-shirt",
  shop: { key: "vp_key", origins: [url], show, products: [], currency: "EUR" },
};

test("with BASE_PATH every link that is printed at start is below it", () => {
  const printed = banner(url, readConfig({ BASE_PATH: "/shop-api/" }), { demo });
  const links = [...printed.matchAll(/https?:\/\/\S+/gu)].map(([link]) => link);
  expect(links.filter((link) => link !== url && !link.startsWith(`${url}/shop-api/`))).toEqual([]);
  for (const path of [
    "/demo",
    "/dashboard",
    "/graphql",
    "/docs",
    "/openapi.json",
    "/external/product/v1/linen-shirt",
  ]) {
    expect(links).toContain(`${url}/shop-api${path}`);
  }
  expect(links).toContain(`${url}/shop-api/dashboard#token=a-demo-token-of-my-own`);
  expect(links).toContain(`${url}/shop-api/dashboard#token=vt_reads`);
  expect(banner(url, readConfig({ BASE_PATH: "/" }), { demo })).toBe(banner(url, readConfig({}), { demo }));
});

test("where there is no store yet, the two commands that come next are printed", () => {
  const commands = "    npx vitrine store create acme\n    npx vitrine token issue acme\n";
  expect(banner(url, readConfig({}), { isEmpty: true })).toContain(commands);
  for (const contents of [{}, { demo }]) expect(banner(url, readConfig({}), contents)).not.toContain("store create");
});
