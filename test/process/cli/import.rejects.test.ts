// @tier all
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addSite } from "../../../src/access/stores/site.js";
import { createStore } from "../../../src/access/stores/store.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";
import { runShell } from "../../support/docs.js";
import { programInShell } from "../../support/process/shell.js";

const { place, database } = await openSharedPlace();

const header = "id;sku;title;price;available;featured_image;url";
const row = (n: number, price: number | string = n) =>
  `p-${n};S-${n};"Shirt\n""no. ${n}""";${price};true;https://shop.example/${n}.jpg;https://shop.example/${n}`;
const csv = (...rows: readonly string[]) => `\uFEFF${[header, ...rows].join("\r\n")}`;

/** A new store, a folder, and a file with this content in it. */
async function prepare(content: string) {
  const { store } = await createStore(database.client, `store-${randomUUID()}`, "Test store");
  const folder = join(place.dataDir, store);
  await mkdir(folder);
  const [file, rejects] = [join(folder, "products.csv"), join(folder, "rejected.csv")];
  await writeFile(file, content);
  return { store, folder, file, rejects, command: ["import", store, file, "--rejects", rejects] };
}

const stored = (storeId: string) => database.client.product.count({ where: { storeId } });

describe("--rejects", () => {
  // More than are listed, and of each kind: invalid, duplicate, in conflict, malformed; short and long imports.
  test.for([200, 1_000])(
    "of %i rows writes all that fail unchanged, so that they can be corrected and imported",
    async (count) => {
      const rows = Array.from({ length: count }, (_, n) => row(n, n % 2 === 0 ? n : "cheap"));
      const { store, folder, rejects, command } = await prepare(csv(row(1), row(2)));
      await cliJson(command, place.env);
      expect(await readFile(rejects, "utf8")).toBe(`${header}\n`);
      const conflict = row(count + 1).replace(`S-${count + 1}`, "S-1");
      const sent = [...rows, row(count + 2), row(count + 2), conflict, "p;too few"];
      await writeFile(join(folder, "products.csv"), csv(...sent));
      const failed = count / 2 + 4;
      const { status, stdout } = await cli([...command, "--json"], place.env);
      expect([status, JSON.parse(stdout)]).toMatchObject([3, { imported: count / 2, failed, rejects }]);
      const failing = [...rows.filter((_, n) => n % 2 === 1), row(count + 2), row(count + 2), conflict, "p;too few"];
      const written = await readFile(rejects, "utf8");
      expect(written).toBe(`${[header, ...failing].join("\n")}\n`);
      expect((await readdir(folder)).toSorted()).toEqual(["products.csv", "rejected.csv"]);
      const mended = [...rows.map((_, n) => row(n)).filter((_, n) => n % 2 === 1), row(count + 2), ""];
      await writeFile(rejects, [header, ...mended].join("\n"));
      await cliJson(["import", store, rejects], place.env);
      expect(await stored(store)).toBe(count + 1);
    },
  );

  test("replaces an older file only when the import has succeeded, and a dry run writes it too", async () => {
    const { store, rejects, folder, command } = await prepare(csv(row(1), row(2, "cheap")).replace("url", "colour"));
    await writeFile(rejects, "older");
    expect((await cli(command, place.env)).status).toBe(1);
    expect([await readFile(rejects, "utf8"), (await readdir(folder)).length]).toEqual(["older", 2]);
    await writeFile(join(folder, "products.csv"), csv(row(1), row(2, "cheap")));
    const { status, stderr } = await cli([...command, "--dry-run"], place.env);
    expect([status, await readFile(rejects, "utf8")]).toEqual([3, `${header}\n${row(2, "cheap")}\n`]);
    expect(stderr).toContain(`The rows that failed are in ${rejects}.`);
    expect(await stored(store)).toBe(0);
  });

  test("is refused for the imported file, a path that is not a file, one that cannot be written, and with reject-all", async () => {
    const { store, folder, file, rejects } = await prepare(csv(row(1)));
    const missing = join(folder, "missing", "rejected.csv");
    const refusals = [
      [["--rejects", file], 1, `${file} is the file that is imported: name another one for the rejected rows.`],
      [["--rejects", folder], 1, `${folder} is not a file that can be replaced.`],
      [["--rejects", missing], 1, `${missing} cannot be written: there is no folder ${join(folder, "missing")}.`],
      [
        ["--rejects", rejects, "--error-policy", "reject-all"],
        2,
        "--rejects needs --error-policy reject-failed: with reject-all, all rows are rejected. (see --help)",
      ],
    ] as const;
    for (const [options, status, reason] of refusals) {
      const ended = await cli(["import", store, file, ...options], place.env);
      expect(ended).toEqual({ status, stdout: "", stderr: `vitrine: ${reason}\n` });
    }
    expect([await stored(store), await readdir(folder)]).toEqual([0, ["products.csv"]]);
  });
});

test("--site assigns the products to a site of the store", async () => {
  const { store, file } = await prepare(csv(row(1)));
  const unknown = await cli(["import", store, file, "--site", "de"], place.env);
  expect(unknown).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("The store has no site with this siteId."),
  });
  await addSite(database.client, store, "de", "SHOP");
  await cliJson(["import", store, file, "--site", "de"], place.env);
  const assigned = await database.client.productSite.findMany({ where: { storeId: store } });
  expect(assigned).toEqual([{ storeId: store, siteId: "de", productId: "p-1" }]);
});

test("- reads standard input, and leaves no temporary file, whether the import succeeds or fails", async () => {
  const { store, folder } = await prepare(csv(row(1), row(2)));
  const script = `
    ${programInShell} import ${store} - --json < products.csv
    (cat products.csv; printf '\\nbad;row') | ${programInShell} import ${store} - --rejects rejected.csv 2> errors || echo "status $?"
    ls "$TMPDIR"; tail -1 rejected.csv`;
  const env = { ...place.env, PATH: process.env["PATH"] ?? "" };
  expect(await runShell(script, env, folder)).toBe(`{"store":"${store}","imported":2,"created":2,"updated":0}
2 products were imported, 1 failed. 0 new, 2 replaced.
status 3
bad;row
`);
});
