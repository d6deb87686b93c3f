// @tier all
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { addSite } from "../../../src/access/stores/site.js";
import { createStore } from "../../../src/access/stores/store.js";
import { deleteStore } from "../../../src/access/stores/store.delete.js";
import { issueToken } from "../../../src/access/token.js";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";
import { runShell } from "../../support/docs.js";
import { asInputs, newShow, someEvents } from "../../support/figures.js";
import { product } from "../../support/products.js";
import { programInShell } from "../../support/process/shell.js";
import { everythingOf } from "../../support/stored.js";

const { place, database } = await openSharedPlace();
const { env, temporary: folder } = place;

const newStore = async () => (await createStore(database.client, `store-${randomUUID()}`, "Acme")).store;
const moment = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u);

/** A store with some of everything, and how its row of `store show` counts it. */
async function fullStore() {
  const { client } = database;
  const store = await newStore();
  await addSite(client, store, "de", "SHOP");
  await importProducts(client, store, [product("a"), product("b")], { site: { siteId: "de" } });
  const { lsId } = await newShow(client, store);
  await recordEvents(client, store, lsId, asInputs(someEvents(100)));
  await newShow(client, store);
  return { store, lsId, contents: { products: 2, sites: 1, liveStreams: 2, tokens: 0, keys: 0 } };
}

const tablesWithRows = async (store: string) => {
  const rows = await everythingOf({ db: database.client }, { id: store });
  return Object.keys(rows).filter((table) => rows[table]?.length !== 0);
};

test("stores are listed, shown and renamed", async () => {
  const { store, contents } = await fullStore();
  const stores: any[] = (await cliJson(["store", "list"], env)).stores;
  const ids = stores.map((listed) => String(listed.store));
  expect(ids).toEqual(ids.toSorted());
  expect(stores).toContainEqual({ store, name: "Acme", currency: null, timeZone: "UTC", createdAt: moment });
  expect((await cli(["store", "list"], env)).stdout).toContain(`${store}  Acme  created `);
  expect(await cliJson(["store", "rename", store, "Acme Fashion"], env)).toEqual({ store, name: "Acme Fashion" });
  expect(await cliJson(["store", "set", store, "--currency", "eur"], env)).toEqual({ store, currency: "EUR" });
  expect(await cliJson(["store", "set", store, "--time-zone", "europe/berlin"], env)).toEqual({
    store,
    timeZone: "Europe/Berlin",
  });
  expect(await cli(["store", "set", store], env)).toMatchObject({ status: 2, stdout: "" });
  expect(await cli(["store", "set", store, "--time-zone", "Mars"], env)).toMatchObject({
    status: 1,
    stderr: 'vitrine: timeZone must be an IANA time zone, such as Europe/Berlin, not "Mars".\n',
  });
  expect(await cliJson(["store", "show", store], env)).toEqual({
    store,
    name: "Acme Fashion",
    currency: "EUR",
    timeZone: "Europe/Berlin",
    createdAt: moment,
    ...contents,
  });
  expect((await cli(["store", "show", store], env)).stdout).toMatch(
    /^store-\S+ {2}Acme Fashion {2}created \S+\n2 products, 1 site, 2 live streams, 0 tokens and 0 public keys\n$/u,
  );
});

test("a store is created with its currency and time zone, or with neither where one is wrong", async () => {
  const id = `store-${randomUUID()}`;
  const create = (...options: string[]) => ["store", "create", id, ...options];
  expect(await cli(create("--currency", "eur", "--time-zone", "+02:00"), env)).toMatchObject({ status: 1 });
  expect(await cliJson(create("--currency", "eur", "--time-zone", "Asia/Kolkata"), env)).toEqual({
    store: id,
    name: id,
    currency: "EUR",
    timeZone: "Asia/Kolkata",
  });
});

test("deleting a store deletes all of its data, and nothing of other stores", async () => {
  const [{ store }, other] = [await fullStore(), await fullStore()];
  const before = await everythingOf({ db: database.client }, { id: other.store });
  const unconfirmed = await cli(["store", "delete", store], env);
  expect(unconfirmed).toEqual({
    status: 2,
    stdout: "",
    stderr:
      `vitrine: Delete store ${store} with 2 products, 1 site, 2 live streams, 0 tokens and 0 public keys? ` +
      "Confirm with --yes: nothing was changed. (see --help)\n",
  });
  expect(await cliJson(["store", "delete", store, "--yes"], env)).toEqual({
    store,
    products: 2,
    sites: 1,
    liveStreams: 2,
    tokens: 0,
    keys: 0,
  });
  expect(await tablesWithRows(store)).toEqual([]);
  expect(await everythingOf({ db: database.client }, { id: other.store })).toEqual(before);
});

test("on a terminal a deletion asks for confirmation: only yes continues, and neither no nor the end of the input changes anything", async () => {
  const store = await newStore();
  const variables = { ...env, PATH: process.env["PATH"] ?? "", VITRINE: programInShell };
  const onTerminal = (input: string) =>
    runShell(
      `(until grep -q 'y/N' typescript; do sleep 0.1; done; ${input}; sleep 1) 2> /dev/null |
        script -qfec "$VITRINE store delete ${store}" typescript > /dev/null || echo "status $?"
      cat typescript; rm typescript`,
      variables,
      folder,
    );
  for (const input of ["echo n", "true"]) {
    const printed = await onTerminal(input);
    expect(printed).toContain(
      `Delete store ${store} with 0 products, 0 sites, 0 live streams, 0 tokens and 0 public keys? [y/N]`,
    );
    expect(printed).toContain("status 1");
    expect(printed).toContain("vitrine: Nothing was changed.");
    expect(await tablesWithRows(store)).toEqual(["Store"]);
  }
  expect(await onTerminal("echo y")).toContain(`Store ${store} was deleted`);
  expect(await tablesWithRows(store)).toEqual([]);
});

test("a store's tokens are deleted first, with time for them to stop working", async () => {
  const { store } = await fullStore();
  await issueToken(database.client, store);
  const from = performance.now();
  expect(await deleteStore(database.client, store, 300)).toMatchObject({ tokens: 1 });
  expect(performance.now() - from).toBeGreaterThan(290);
  expect(await tablesWithRows(store)).toEqual([]);
});

test("sites are listed and removed, and their products stay", async () => {
  const { store } = await fullStore();
  await addSite(database.client, store, "at", "MARKET");
  const sites = [
    { site: "at", type: "MARKET" },
    { site: "de", type: "SHOP" },
  ];
  expect(await cliJson(["site", "list", store], env)).toEqual({ store, sites });
  expect((await cli(["site", "list", store], env)).stdout).toBe("at  MARKET\nde  SHOP\n");
  const { status, stderr } = await cli(["site", "remove", store, "de"], env);
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining("to which 2 products are assigned? Confirm with --yes"),
  ]);
  expect(await cliJson(["site", "remove", store, "de", "--yes"], env)).toEqual({ store, site: "de", products: 2 });
  expect(await cliJson(["site", "list", store], env)).toEqual({ store, sites: sites.slice(0, 1) });
  expect(await cliJson(["store", "show", store], env)).toMatchObject({ products: 2, sites: 1 });
});

test("shows are listed by status and deleted", async () => {
  const { store, lsId } = await fullStore();
  const listed = (await cliJson(["show", "list", store, "--status", "LIVE"], env)).liveStreams;
  expect(listed).toHaveLength(2);
  expect(listed).toContainEqual({
    id: lsId,
    name: "Spring collection",
    status: "LIVE",
    startedAt: moment,
    endedAt: null,
    durationSeconds: expect.any(Number),
  });
  expect((await cli(["show", "list", store, "--status", "ENDED"], env)).stdout).toBe(
    `Store ${store} has no live streams that are ENDED.\n`,
  );
  const refused = await cli(["show", "delete", store, lsId, "--yes"], env);
  expect(refused).toEqual({
    status: 1,
    stdout: "",
    stderr: "vitrine: The show has events. With force, they are deleted too.\n",
  });
  expect((await cli(["show", "delete", store, lsId, "--force"], env)).status).toBe(2);
  expect(await cliJson(["show", "delete", store, lsId, "--force", "--yes"], env)).toEqual({
    store,
    liveStream: lsId,
    events: 100,
  });
  expect((await cliJson(["show", "list", store], env)).liveStreams).toHaveLength(1);
});

test.each([
  [["store", "show", "nobody"], "There is no store nobody."],
  [["store", "rename", "nobody", "Name"], "There is no store nobody."],
  [["store", "delete", "nobody", "--yes"], "There is no store nobody."],
  [["site", "list", "nobody"], "There is no store nobody."],
  [["site", "remove", "nobody", "de", "--yes"], "There is no store nobody."],
  [["show", "list", "nobody"], "There is no store nobody."],
  [["show", "delete", "nobody", "show", "--yes"], "There is no store nobody."],
])("%j is refused for a store that does not exist", async (args, reason) => {
  expect(await cli(args, env)).toEqual({ status: 1, stdout: "", stderr: `vitrine: ${reason}\n` });
});

test("a site or a show that the store does not have is refused", async () => {
  const store = await newStore();
  expect((await cli(["site", "remove", store, "de", "--yes"], env)).stderr).toBe(
    `vitrine: Store ${store} has no site de.\n`,
  );
  expect((await cli(["show", "delete", store, "gone", "--yes"], env)).stderr).toBe(
    "vitrine: The store has no live stream with this id.\n",
  );
});
