// @tier all
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { paths, products, storedKeys } from "../../support/products.js";
import { mountSmallFolder, withTemporaryFolder } from "../../support/process/smallFolder.js";

const app = await openTestApp();
const room = 512 * 1024;
const folder = mountSmallFolder(room);

const noRoom = {
  status: 503,
  retryAfter: "5",
  code: "UNAVAILABLE",
  detail: "The folder for temporary files (TMPDIR) has no room for this. Nothing was changed.",
};

async function refusal(asked: Promise<Response>) {
  const response = await asked;
  const { code, detail } = (await response.json()) as { code: unknown; detail: unknown };
  return { status: response.status, retryAfter: response.headers.get("retry-after"), code, detail };
}

const upload = (store: TestStore, body: string) =>
  store.fetch(paths.csv, { method: "POST", headers: { "content-type": "text/csv" }, body });

describe("where the folder for temporary files has no room,", () => {
  const inFolder = <Result>(work: () => Promise<Result>) => withTemporaryFolder(folder, work);

  test.each([
    ["by far", room],
    ["by its last bytes alone, which a system call then leaves out", 10],
  ])("an upload that is too long %s is refused with 503, and the next one is taken", async (_, beyond) => {
    const store = await createTestStore(app);
    const list = products(90, () => ({ description: "d".repeat(5_000) }));
    const [header = "", ...rows] = toCsv(list).split("\n");
    const filler = "d".repeat(room + beyond - toCsv(list).length);
    const body = [header, ...rows].join("\n").replace("d".repeat(5_000), "d".repeat(5_000) + filler);
    expect(Buffer.byteLength(body)).toBe(room + beyond);
    expect(await inFolder(() => refusal(upload(store, body)))).toEqual(noRoom);
    expect(await storedKeys(app, store)).toEqual({});
    const fits = toCsv(list.slice(0, 80)); // in a file
    expect((await inFolder(() => upload(store, fits))).status).toBe(200);
  });

  test("an export is refused with 503, and so is not counted as an error of the server", async () => {
    const store = await createTestStore(app);
    for (let n = 0; n < 3; n += 1) {
      const part = products(300).slice(n * 100, n * 100 + 100);
      const list = part.map((each) => ({ ...each, description: "d".repeat(20_000) }));
      expect((await store.post(paths.bulk, { products: list })).status).toBe(200);
    }
    expect(await inFolder(() => refusal(store.fetch(paths.csv)))).toEqual(noRoom);
    expect(app.logged.join("")).not.toContain("request failed");
    expect((await (await store.fetch(paths.csv)).text()).length).toBeGreaterThan(6_000_000);
  });
});
