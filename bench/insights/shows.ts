import { query } from "../server.js";

/** The shows of a store over a year, inserted directly into the database: recording ten million events would take an hour. */
export interface Shows {
  readonly shows: number;
  /** Products of the catalog; each show has 50 of them. */
  readonly products: number;
  /** Events of each show, by which its totals are made: a fifth are carts and orders, a tenth of these in the replay of a week. */
  readonly eventsPerShow: number;
}

/**
 * Makes shows and the totals that recording and folding would have left, without the events: each an hour at a time of the
 * year before `end`, whose carts and orders are of products that many shows share.
 */
export async function storeShows(databaseUrl: string, store: string, end: Date, made: Shows): Promise<void> {
  const { shows, products, eventsPerShow } = made;
  const run = (statement: string, values: unknown[] = []) => query(databaseUrl, statement, [store, ...values]);
  await run(
    `INSERT INTO "Product" ("storeId", id, sku, title, available, images, "featuredImage", url, "searchWords", "createdAt", "updatedAt", price)
     SELECT $1, 'product-' || n, 'sku-' || n, 'Product ' || n, true, '{}', 'https://shop.example/i.jpg', 'https://shop.example/p',
       '', now(), now(), n % 100 FROM generate_series(0, $2::int - 1) AS n`,
    [products],
  );
  await run(
    `INSERT INTO "LiveStream" ("storeId", id, number, name, status, "startedAt", "durationSeconds", "createdAt")
     SELECT $1, 'show-' || n, n, 'Show ' || n, 'ENDED', $2::timestamptz - (n * 365.0 / $3::int) * interval '1 day', 3600, now()
     FROM generate_series(1, $3::int) AS n`,
    [end.toISOString(), shows],
  );
  await run(
    `CREATE UNLOGGED TABLE happened AS
     SELECT s.number AS show, s.id AS "liveStreamId", 'product-' || (s.number * 7 + i % 50) % $3::int AS "productId",
       CASE WHEN i % 4 = 0 THEN 1 ELSE 0 END AS orders, (i * 7919 % 9000) / 100.0 AS amount,
       date_trunc('minute', s."startedAt" + CASE WHEN i % 10 = 9 THEN i::float8 / $2::int * interval '7 days'
         ELSE i::float8 / $2::int * interval '1 hour' END) AS minute
     FROM "LiveStream" AS s, generate_series(0, $2::int - 1) AS i WHERE s."storeId" = $1`,
    [eventsPerShow / 5, products],
  );
  await storeTotals(run, eventsPerShow);
  await query(databaseUrl, "DROP TABLE happened");
  await query(databaseUrl, "VACUUM ANALYZE");
}

async function storeTotals(run: (statement: string, values?: unknown[]) => Promise<unknown>, events: number) {
  await run(
    `INSERT INTO "LiveStreamTotal" ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds",
       refunds, buyers, "engagedViewers", "ordersWithoutViewer")
     SELECT $1, s.id, c.channel, -1, s.number * 7 % 1000 + 0.25, $2::int / 80, $2::int / 40, $2::int / 400, $2::int, 0, $2::int / 100,
       $2::int / 50, 0
     FROM "LiveStream" AS s, unnest(ARRAY['LIVE', 'REPLAY', 'REFERRAL', 'ANY']) AS c(channel) WHERE s."storeId" = $1`,
    [events],
  );
  await run(
    `INSERT INTO "LiveStreamGroup" ("storeId", "liveStreamId", kind, name, slot, viewers, orders, sales)
     SELECT $1, s.id, c.channel, d.device, -1, $2::int / 40, 0, 0 FROM "LiveStream" AS s, unnest(ARRAY['LIVE', 'REPLAY']) AS c(channel),
       unnest(ARRAY['mobile', 'desktop', 'tablet', 'tv']) AS d(device) WHERE s."storeId" = $1`,
    [events],
  );
  const figures = "sum(1 - orders), sum(orders)";
  await run(
    `INSERT INTO "LiveStreamMinute" ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
     SELECT $1, "liveStreamId", minute, -1, 100, ${figures}, sum(amount * orders) FROM happened GROUP BY 2, 3`,
  );
  await run(
    `INSERT INTO "LiveStreamSpan" ("storeId", "liveStreamId", seconds, "startsAt", viewers, carts, orders, sales)
     SELECT $1, "liveStreamId", seconds, date_bin(seconds * interval '1 second', minute, '1970-01-01T00:00:00Z') AS starts, 100,
       ${figures}, sum(amount * orders) FROM happened, unnest(ARRAY[900, 86400]) AS seconds GROUP BY 2, 3, starts ORDER BY 2, 3, starts`,
  );
  await run(
    `INSERT INTO "LiveStreamProduct" ("storeId", "liveStreamId", "productId", slot, carts, orders, quantity, sales)
     SELECT $1, "liveStreamId", "productId", -1, ${figures}, sum(orders), sum(amount * orders) FROM happened GROUP BY 2, 3`,
  );
  await run(
    `INSERT INTO "ShowProductSpan" ("storeId", show, seconds, "startsAt", "productId", carts, orders, quantity, sales, refunds)
     SELECT $1, show, seconds, date_bin(seconds * interval '1 second', minute, '1970-01-01T00:00:00Z') AS starts, "productId",
       ${figures}, sum(orders), sum(amount * orders), 0
     FROM happened, unnest(ARRAY[900, 86400]) AS seconds GROUP BY 2, 3, 5, starts ORDER BY 2, 3, starts`,
  );
}
