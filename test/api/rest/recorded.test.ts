import { expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { order, view } from "../../support/events.js";
import { paths, product } from "../../support/products.js";
import { analyticsPath, recorded, saved } from "../../support/shows.js";

const app = await openTestApp();

interface RecordedCall {
  readonly method: string;
  readonly path: string;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

const post = (path: string, body: string | object, headers = {}): RecordedCall => ({
  method: "POST",
  path,
  body,
  headers: { "content-type": "application/json", ...headers },
});
const read = (path: string): RecordedCall => ({ method: "GET", path });
const remove = (path: string): RecordedCall => ({ method: "DELETE", path });

const full = product("full", {
  description: 'Linen, "washed"',
  price: 59.9,
  price_min: 49.9,
  price_max: 69.9,
  images: ["https://shop.example/1.jpg", "//shop.example/2.jpg"],
});
const csv = `id,sku,title,description,price,price_min,price_max,available,images,featured_image,url
c1,C1,"Scarf, wool",,19.9,,,true,"[""https://shop.example/1.jpg"",""https://shop.example/2.jpg""]",https://shop.example/1.jpg,https://shop.example/c1
c2,C2,Hat,Warm,,,,FALSE,https://shop.example/2.jpg,https://shop.example/2.jpg,https://shop.example/c2
`;
const web = "siteId=web&siteType=shop";

/** In this order, on one store. */
const calls: readonly RecordedCall[] = [
  post(paths.one, { product: full }),
  post(paths.one, { product: full, siteId: "web", siteType: "shop" }),
  post(paths.one, { product: product("none"), siteId: "nowhere" }),
  post(paths.one, { product: { id: "a", price: -1, colour: "red" } }),
  post(paths.one, {}),
  post(paths.one, []),
  post(paths.bulk, { products: [product("a"), product("b"), product("ä/ö %")], siteId: "", siteType: "" }),
  post(paths.bulk, { products: [] }),
  post(paths.bulk, { products: [product("a"), product("a")] }),
  post(paths.bulk, { products: [product("c", { sku: "sku-a" }), product("d", { url: "javascript:alert(1)" })] }),
  post(paths.bulk, { products: [product("a")], siteId: "nowhere" }),
  post(paths.csv, { csvContent: csv, siteId: "web" }),
  post(paths.csv, { csvContent: csv }),
  post(paths.csv, { csvContent: csv.replace("19.9", "-1").replace("FALSE", "no") }),
  post(paths.csv, { csvContent: "id,colour\n" }),
  post(paths.csv, { csvContent: "" }),
  read(paths.of("full")),
  read(`${paths.of("full")}?${web}`),
  read(`${paths.of("full")}?siteId=nowhere`),
  read(`${paths.of("full")}?unknown=1&siteId=`),
  read(paths.of("sku-a")),
  read(paths.of("ä/ö %")),
  read(paths.of("missing")),
  read(paths.bulk),
  post(paths.bulk, { products: [product("bulk")] }),
  read(paths.bulk),
  remove(paths.bulk),
  read(`${paths.one}/%ff`),
  remove(`${paths.of("c1")}?${web}`),
  remove(paths.of("C2")),
  remove(paths.of("c1")),
  remove(`${paths.of("full")}?siteId=nowhere`),
  remove(`${paths.one}/%ff`),
  read(analyticsPath("show")),
  read(`${analyticsPath("show")}?unknown=1`),
  read(analyticsPath("quiet")),
  read(analyticsPath("missing")),
  read(`${analyticsPath("")}%ff`),
];

async function answered(call: (path: string, options: RequestInit) => Promise<Response>, given: RecordedCall) {
  const { method, path, body, headers } = given;
  const text = typeof body === "object" ? JSON.stringify(body) : body;
  const response = await call(path, { method, ...(headers && { headers }), ...(text !== undefined && { body: text }) });
  const sent = text === undefined ? [] : [text.replaceAll("\n", "\\n")];
  const received = `${response.status} ${response.headers.get("content-type") ?? ""}`;
  return [`${method} ${path}`, ...sent, received, await response.text(), ""].join("\n");
}

test("the documented paths answer with the recorded bytes", async () => {
  const store = await createTestStore(app);
  await addSite(app.db, store.id, "web", "shop");
  await saved(store, { id: "show", host: { name: "Alex", email: "alex@shop.example" } });
  await saved(store, { id: "quiet", status: "ARCHIVED", host: null });
  await recorded(store, "show", [
    view("e1", { device: "Mobile" }),
    view("e2", { viewerId: "v2", channel: "REPLAY", seconds: 12.5 }),
    { id: "e3", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId: "full" },
    order("e4", 59.9),
    order("e5", 0.15, { channel: "REFERRAL" }),
  ]);
  const answers: string[] = [];
  for (const call of calls) answers.push(await answered((path, options) => store.fetch(path, options), call));
  await expect(answers.join("\n")).toMatchFileSnapshot("recorded.txt");
});
