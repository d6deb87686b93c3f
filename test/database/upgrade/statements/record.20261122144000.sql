-- How that version records a batch of events: $1 store, $2 show, $3 slot, $4 now, $5 the earliest of the events, then their columns.
WITH show AS MATERIALIZED (
  SELECT status, pg_try_advisory_xact_lock_shared(hashtextextended('live stream ' || $1::text || ' ' || $2::text, 0)) AS "hasLock",
    coalesce($5::timestamptz < "startedAt" - interval '24 hours', false) AS "isTooEarly",
    "createdAt", false AS "isReplaced"
  FROM "LiveStream" WHERE "storeId" = $1::text AND id = $2::text FOR KEY SHARE),
input AS MATERIALIZED (
  SELECT e.* FROM unnest($6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::numeric[], $12::numeric[],
    $13::text[], $14::timestamptz[])
    WITH ORDINALITY AS e(id, type, channel, "viewerId", device, seconds, amount, "productId", "occurredAt", position),
    show WHERE show.status NOT IN ('SCHEDULED', 'ARCHIVED') AND show."hasLock" AND NOT show."isTooEarly"
      AND NOT show."isReplaced"),
fresh AS (
  INSERT INTO "ShopperEvent" ("storeId", "liveStreamId", id, type, channel, "viewerId", device, seconds, amount,
    "productId", "occurredAt", "acceptedAt", position)
  SELECT $1::text, $2::text, id, type, channel, "viewerId", device, seconds, amount, "productId", coalesce("occurredAt", $4::timestamptz),
    $4::timestamptz, position FROM input ORDER BY id, position
  ON CONFLICT ("storeId", "liveStreamId", id) DO NOTHING
  RETURNING type, channel, "viewerId", device, seconds, amount, "productId", "occurredAt", position),
seen AS MATERIALIZED (
  SELECT type, channel, "viewerId", coalesce(device, 'unknown') AS device, position,
    date_trunc('minute', "occurredAt", 'UTC') AS minute
  FROM fresh WHERE type <> 'ORDER'),
viewer AS (
  INSERT INTO "LiveStreamViewer" ("storeId", "liveStreamId", channel, "viewerId", device)
  SELECT $1::text, $2::text, channel, "viewerId", device FROM (
    SELECT DISTINCT ON (channel, "viewerId") channel, "viewerId", device FROM seen
    ORDER BY channel, "viewerId", position) AS first
  ON CONFLICT ("storeId", "liveStreamId", channel, "viewerId") DO NOTHING RETURNING channel, "viewerId", device),
"viewerOfAny" AS (
  INSERT INTO "LiveStreamViewer" ("storeId", "liveStreamId", channel, "viewerId", device)
  SELECT DISTINCT $1::text, $2::text, 'ANY', "viewerId", 'unknown' FROM viewer ORDER BY "viewerId"
  ON CONFLICT ("storeId", "liveStreamId", channel, "viewerId") DO NOTHING RETURNING channel),
"cartViewer" AS (
  INSERT INTO "LiveStreamCartViewer" ("storeId", "liveStreamId", channel, "viewerId")
  SELECT DISTINCT $1::text, $2::text, channel, "viewerId" FROM seen WHERE type = 'ADD_TO_CART' ORDER BY channel, "viewerId"
  ON CONFLICT ("storeId", "liveStreamId", channel, "viewerId") DO NOTHING RETURNING channel),
present AS (
  INSERT INTO "LiveStreamPresence" ("storeId", "liveStreamId", minute, "viewerId")
  SELECT DISTINCT $1::text, $2::text, minute, "viewerId" FROM seen ORDER BY minute, "viewerId"
  ON CONFLICT ("storeId", "liveStreamId", minute, "viewerId") DO NOTHING RETURNING minute),
total AS (
  INSERT INTO "LiveStreamTotal" AS t ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds")
  SELECT $1::text, $2::text, channel, $3::int, sum(sales), sum(orders), sum(viewers), sum("cartViewers"), sum(seconds) FROM (
    SELECT channel, amount AS sales, 1 AS orders, 0 AS viewers, 0 AS "cartViewers", 0 AS seconds FROM fresh WHERE type = 'ORDER'
    UNION ALL SELECT channel, 0, 0, 0, 0, seconds FROM fresh WHERE type = 'VIEW' AND seconds IS NOT NULL
    UNION ALL SELECT channel, 0, 0, 1, 0, 0 FROM viewer
    UNION ALL SELECT channel, 0, 0, 1, 0, 0 FROM "viewerOfAny"
    UNION ALL SELECT channel, 0, 0, 0, 1, 0 FROM "cartViewer") AS added
  GROUP BY channel ORDER BY channel
  ON CONFLICT ("storeId", "liveStreamId", channel, slot) DO UPDATE SET sales = t.sales + EXCLUDED.sales,
    orders = t.orders + EXCLUDED.orders, viewers = t.viewers + EXCLUDED.viewers,
    "cartViewers" = t."cartViewers" + EXCLUDED."cartViewers", "viewSeconds" = t."viewSeconds" + EXCLUDED."viewSeconds"),
device AS (
  INSERT INTO "LiveStreamDevice" AS t ("storeId", "liveStreamId", channel, device, slot, viewers)
  SELECT $1::text, $2::text, channel, device, $3::int, count(*) FROM viewer
  GROUP BY channel, device ORDER BY channel, device
  ON CONFLICT ("storeId", "liveStreamId", channel, device, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers
  RETURNING slot),
minute AS (
  INSERT INTO "LiveStreamMinute" AS t ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
  SELECT $1::text, $2::text, minute, $3::int, sum(viewers), sum(carts), sum(orders), sum(sales) FROM (
    SELECT minute, 1 AS viewers, 0 AS carts, 0 AS orders, 0::numeric AS sales FROM present
    UNION ALL SELECT minute, 0, 1, 0, 0 FROM seen WHERE type = 'ADD_TO_CART'
    UNION ALL SELECT date_trunc('minute', "occurredAt", 'UTC'), 0, 0, 1, amount FROM fresh WHERE type = 'ORDER') AS added
  GROUP BY minute ORDER BY minute
  ON CONFLICT ("storeId", "liveStreamId", minute, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
    carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
  RETURNING slot),
product AS (
  INSERT INTO "LiveStreamProduct" AS t ("storeId", "liveStreamId", "productId", slot, carts)
  SELECT $1::text, $2::text, "productId", $3::int, carts FROM (
    SELECT "productId", count(*) AS carts FROM fresh WHERE type = 'ADD_TO_CART' AND "productId" IS NOT NULL
    GROUP BY "productId") AS added
   ORDER BY "productId"
  ON CONFLICT ("storeId", "liveStreamId", "productId", slot) DO UPDATE SET carts = t.carts + EXCLUDED.carts
  RETURNING slot)
SELECT show.*, (SELECT count(*) FROM fresh)::int AS accepted,
  ((SELECT count(*) FROM device) + (SELECT count(*) FROM minute) + (SELECT count(*) FROM product))::int AS "rowsToFold"
FROM show
