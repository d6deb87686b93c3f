// Writes rows of every kind, as this version stores them, to test/database/upgrade/, under the name of the last migration:
//   DATABASE_URL=postgres://… npx tsx scripts/releasedRows.ts
// The database is to be empty. Run it for each release: test/database/upgrade.test.ts upgrades all of these.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { issueKey } from "../src/stores/publicKey.js";
import { addSite } from "../src/stores/site.js";
import { createStore } from "../src/stores/store.js";
import { revokeToken } from "../src/stores/token.replace.js";
import { issueToken } from "../src/stores/token.js";
import { recordEvents } from "../src/events/record/events.record.js";
import { saveLiveStream } from "../src/shows/liveStream.save.js";
import { pruneEvents } from "../src/figures/totals/prune.js";
import { pruneBefore } from "../src/figures/totals/pruneBefore.js";
import { importProducts } from "../src/catalog/import/entryPoints/jsonProducts.js";
import { migrate } from "../src/database/migrations/migrate.js";
import { connect } from "../src/database/open.js";
import {
  releasedEvents,
  releasedShows,
  releasedStart,
  releasedStore as store,
} from "../test/support/figures/released.js";

const connectionString = process.env["DATABASE_URL"];
if (connectionString === undefined) throw new Error("DATABASE_URL must name an empty database.");
const log = (problem: Error) => process.stderr.write(`${problem.message}\n`);
const last = (await migrate({ connectionString }, log)).at(-1);
if (last === undefined) throw new Error("The database is not empty.");
const database = connect({ connectionString }, log);
const db = database.client;

await createStore(db, store, "Acme");
await createStore(db, "best", "Best", { currency: "EUR" });
await addSite(db, store, "de", "web");
await issueToken(db, store, { label: "reads", scopes: ["catalog:read", "analytics:read"] });
await revokeToken(db, store, (await issueToken(db, store)).id);
await issueKey(db, store, { origins: ["https://shop.example"] });
const products = Array.from({ length: 5 }, (_, n) => ({
  id: `p${n}`,
  sku: `sku ${n}`,
  title: `Título ${n}`,
  description: n === 0 ? null : `Line 1\nLine "${n}"`,
  price: n % 2 === 0 ? n + 0.99 : null,
  price_min: n % 2 === 0 ? null : n,
  price_max: n % 2 === 0 ? null : n + 10,
  available: n !== 2,
  images: [`https://shop.example/${n}.jpg`],
  featured_image: `https://shop.example/${n}.jpg`,
  url: `https://shop.example/${n}`,
}));
const idempotency = { key: "first", fingerprint: "of the request", field: "importProducts", onReplay: () => undefined };
await importProducts(db, store, products, { idempotency });
await importProducts(db, store, products.slice(0, 2), { site: { siteId: "de" } });
for (const id of releasedShows) {
  const show = { id, name: `Show ${id}`, startedAt: releasedStart, host: { name: "Ada", email: "ada@shop.example" } };
  await saveLiveStream(db, store, { ...show, status: "LIVE" });
  const events = releasedEvents(id).map((event) => ({
    ...event,
    occurredAt: new Date(event.occurredAt ?? releasedStart),
  }));
  await recordEvents(db, store, id, events);
  if (id === "pruned") {
    await saveLiveStream(db, store, { ...show, status: "ARCHIVED", durationSeconds: 7_200 });
    await pruneEvents(db, store, { before: new Date(), lsId: id });
  }
  if (id === "half pruned") {
    await saveLiveStream(db, store, { ...show, status: "ENDED", durationSeconds: 7_200 });
    await pruneBefore(db, store, id, { before: new Date(releasedStart.getTime() + 3_600_000) });
  }
}
await database.close();

const form = ["--data-only", "--column-inserts", "--rows-per-insert=1000", "--exclude-table=_prisma_migrations"];
const dump = execFileSync("pg_dump", [...form, connectionString]);
const inserts = dump.toString("utf8").match(/^INSERT INTO [^]*?\);$/gmu) ?? [];
const file = new URL(`../test/database/upgrade/${last}.sql`, import.meta.url);
writeFileSync(file, `-- Written by scripts/releasedRows.ts.\n${inserts.join("\n")}\n`);
