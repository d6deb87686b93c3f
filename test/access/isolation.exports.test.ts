import { expect, test } from "vitest";
import { addSite } from "../../src/access/stores/site.js";
import { exportRoutes } from "../../src/rest/exports/export.routes.js";
import { restBase } from "../../src/rest/routes/route.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { paths, product } from "../support/products.js";

const app = await openTestApp();

/** A store whose product has the same id and sku as those of others, but its own title. */
async function storeWith(title: string): Promise<TestStore> {
  const store = await createTestStore(app);
  await store.post(paths.bulk, { products: [product("shirt", { title }), product(`own ${title}`, { title })] });
  return store;
}

/** The answer, but for what differs from one answer to the next. */
async function answerTo(store: TestStore, path: string) {
  const response = await store.fetch(path);
  const { date: _, "x-request-id": __, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, text: await response.text() };
}

test.each(exportRoutes.filter(({ scope }) => scope === "catalog:read").map(({ path }) => `${restBase}${path}`))(
  "GET %s returns products of its own store only, and other stores' sites as if they did not exist",
  async (path) => {
    const [owner, stranger] = [await storeWith("Theirs"), await storeWith("Ours")];
    await addSite(app.db, owner.id, "de", "SHOP");
    for (const query of ["", "?available=true", "?updatedSince=2026-01-01T00:00:00Z"]) {
      const { status, text } = await answerTo(stranger, `${path}${query}`);
      expect([status, new Set(text.match(/Ours|Theirs/gu))]).toEqual([200, new Set(["Ours"])]);
    }
    const missing = await answerTo(stranger, `${path}?siteId=nowhere&siteType=SHOP`);
    expect(missing).toMatchObject({ status: 400, text: expect.stringContaining("SITE_NOT_FOUND") });
    expect(await answerTo(stranger, `${path}?siteId=de&siteType=SHOP`)).toEqual(missing);
    expect((await answerTo(owner, `${path}?siteId=de`)).status).toBe(200);
  },
);
