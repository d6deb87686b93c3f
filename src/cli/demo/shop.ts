import { issueKey } from "../../access/key.js";
import type { RootDatabase } from "../../database/client.js";
import type { DemoShop } from "../../http/pages/demo/page.js";
import { currency, demoProducts } from "./products.js";

const label = "demo shop";
const shown: ReadonlySet<string> = new Set([
  "linen-shirt",
  "denim-jacket",
  "wool-scarf",
  "silk-dress",
  "tote-bag",
  "sunglasses",
]);

/** The shop of `/demo`, with a public key for pages of this server, at any name of this machine. */
export async function demoShop(
  db: RootDatabase,
  storeId: string,
  url: string,
  show: DemoShop["show"],
): Promise<DemoShop> {
  const { origin, port } = new URL(url);
  const names = ["localhost", "127.0.0.1", "[::1]"].map((name) => new URL(`http://${name}:${port}`).origin);
  const origins = [...new Set([...names, origin])];
  const known = await db.publicKey.findFirst({ where: { storeId, label, revokedAt: null } });
  const { key } = known ?? (await issueKey(db, storeId, { origins, label }));
  if (known !== null) await db.publicKey.update({ where: { storeId, id: known.id }, data: { origins } }); // another port
  const products = demoProducts
    .filter(({ id }) => shown.has(id))
    .map(({ id, title, price }) => ({ id, title, price: price ?? 0 }));
  return { key, origins, show, products, currency };
}
