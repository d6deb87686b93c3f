import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listProducts } from "../../../../src/catalog/product/list/product.list.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "../../../support/app.js";
import { paths, product } from "../../../support/products.js";
import { seeded } from "../../../support/faults/random.js";

const productsTotal = 1_500;

let app: TestApp;
let store: TestStore;
let stored: readonly { id: string; words: readonly string[]; available: boolean }[];
beforeAll(async () => {
  app = await startApp();
  store = await createTestStore(app);
  const list = shopProducts();
  await store.post(paths.bulk, { products: list });
  stored = list
    .map(({ id, title, sku, available }) => ({ id, available, words: wordsOf(`${title} ${sku}`) }))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
});
afterAll(() => app.close());

/** Words in all products, in some, in one, and in those alone whose ids come last. */
function shopProducts() {
  const random = seeded(12);
  const some = (percent: number, word: string) => (random.whole(1, 100) <= percent ? [word] : []);
  return Array.from({ length: productsTotal }, (_, index) => {
    const number = (index * 1_999) % productsTotal;
    const title = [
      "Shirt",
      ...some(50, "Crème"),
      ...some(10, "brûlée 2026"),
      ...some(2, "ЛЁН"),
      ...some(1, "shell"),
      ...(number >= productsTotal - 150 ? ["ｗｏｏｌ"] : []),
      ...(number === 1_400 ? ["Shirley"] : []),
    ];
    const available = random.whole(1, 4) > 1;
    return product(`p${String(number).padStart(5, "0")}`, { title: title.join(" "), sku: `AB${number}-X`, available });
  });
}

/** As simply as it can be said. */
function wordsOf(text: string): readonly string[] {
  const folded = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return folded.match(/\p{L}+|\p{N}+/gu) ?? [];
}

function expectedIds(search: string, available: boolean | undefined): string[] {
  const sought = wordsOf(search);
  return stored
    .filter((item) => sought.every((word) => item.words.some((own) => own.startsWith(word))))
    .filter((item) => available === undefined || item.available === available)
    .map(({ id }) => id);
}

test("whatever is searched for, the pages together hold every product that matches, in order, once", async () => {
  const word = fc.constantFrom(
    "shirt",
    "s",
    "sh",
    "SHIRL",
    "creme",
    "Brûlée",
    "20",
    "2026",
    "лён",
    "л",
    "wool",
    "shell",
  );
  const anyWord = fc.oneof({ weight: 3, arbitrary: word }, { weight: 1, arbitrary: fc.nat(1_500).map(String) });
  const search = fc.array(anyWord, { minLength: 1, maxLength: 5 }).map((words) => words.join(" "));
  const available = fc.constantFrom(undefined, true, false);
  const pages = fc.record({
    search,
    available,
    first: fc.integer({ min: 1, max: 100 }),
    skipped: fc.double({ max: 1, min: 0, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(pages, async ({ search: text, available: only, first, skipped }) => {
      const all = expectedIds(text, only);
      const start = Math.floor(all.length * skipped);
      const positionOf = (id: string | undefined) => (id === undefined ? undefined : { id, value: "" });
      let after = positionOf(all[start - 1]);
      for (let place = start, more = true, page = 0; more && page < 3; page += 1, place += first) {
        const found = await listProducts(app.db, store.id, { first, after, search: text, available: only });
        expect(found.nodes.map(({ id }) => id)).toEqual(all.slice(place, place + first));
        expect(found.hasNextPage).toBe(place + first < all.length);
        more = found.hasNextPage;
        after = positionOf(found.nodes.at(-1)?.id);
      }
    }),
  );
});
