// @tier long
import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { type HostileFile, hostileFiles } from "../support/catalog/hostileFiles.js";
import { paths, product } from "../support/products.js";

const app = await openTestApp();
const store = await createTestStore(app);
await store.post(paths.one, { product: product("one") });

function send({ path, type, query = "", coding, body }: HostileFile): Promise<Response> {
  return store.fetch(`${paths[path]}${query}`, {
    method: "POST",
    headers: { "content-type": type, ...(coding !== undefined && { "content-encoding": coding }) },
    body: new Uint8Array(Buffer.from(body)),
  });
}

// Each is read in the time of a test, of which one that took steps by the square of its size would need many.
test.each(Object.entries(hostileFiles))("%s is answered, and so are others meanwhile", async (_, file) => {
  const [response, other] = await Promise.all([send(file), store.get(paths.of("one"))]);
  expect([200, 400, 413]).toContain(response.status);
  expect(await response.text()).not.toContain("undefined");
  expect(other.status).toBe(200);
});
