import type { Mutant } from "./mutants.type.js";

/** Faults of shows, events, orders and their figures. */
export const ofAnalytics: readonly Mutant[] = [
  {
    name: "A request that is recorded together with others is told the duplicates of all of them.",
    file: "src/analytics/collect/group.record.ts",
    from: "one.resolve({ accepted, duplicates: indexes.length - accepted });",
    to: "one.resolve({ accepted, duplicates: receipt.duplicates });",
  },
  {
    name: "Of two events of a batch with one id, the last counts instead of the first.",
    file: "src/analytics/events/storage/events.sql.ts",
    from: "IS NOT TRUE ORDER BY show, id, position)`;",
    to: "IS NOT TRUE ORDER BY show, id, position DESC)`;",
    tests: ["test/analytics/events/"],
  },
  {
    name: "A batch is recorded while the totals of its show are being rebuilt.",
    file: "src/analytics/events/storage/events.sql.ts",
    from: '${trySharedLockOf(key)} AND ${isSnapshotCurrent(storeId)} AS "hasLock"',
    to: '(${trySharedLockOf(key)} OR true) AND ${isSnapshotCurrent(storeId)} AS "hasLock"',
    tests: ["test/analytics/shows/locks", "test/analytics/collect/group"],
  },
  {
    name: "The buyers of a batch replace those that its row of the totals had.",
    file: "src/analytics/events/storage/events.totals.sql.ts",
    from: "buyers = t.buyers + EXCLUDED.buyers,",
    to: "buyers = EXCLUDED.buyers,",
    tests: ["test/analytics/events/events.", "test/analytics/totals/folding"],
  },
  {
    name: "The device of a viewer is that of the last batch, not of the first event.",
    file: "src/analytics/events/storage/viewers.sql.ts",
    from: '"liveDevice" = CASE WHEN t.seen & 1 = 0 THEN ${seen}."liveDevice" ELSE t."liveDevice" END,',
    to: '"liveDevice" = ${seen}."liveDevice",',
    tests: ["test/analytics/totals/"],
  },
  {
    name: "An erased viewer stays in the orders that a page claimed for them.",
    file: "src/analytics/events/erase.ts",
    from: '"claimedBy" = CASE WHEN "claimedBy" = ${before}::bytea THEN ${after}::bytea ELSE "claimedBy" END',
    to: '"claimedBy" = "claimedBy"',
  },
  {
    name: "A token that only reads figures may erase viewers.",
    file: "src/analytics/events/events.schema.ts",
    from: 'extensions: { scope: "events:write" },',
    to: 'extensions: { scope: "analytics:read" },',
    tests: ["test/access/scopes"],
  },
  {
    name: "A read that the database refused is not repeated for the subscribers of a show.",
    file: "src/analytics/feed/feed.show.ts",
    from: 'error.code === "UNAVAILABLE") this.#isChanged = true;',
    to: 'error.code === "UNAVAILABLE") this.#isChanged = false;',
  },
  {
    name: "A refund of Shopify counts although its payment failed.",
    file: "src/analytics/hooks/shopify.ts",
    from: 'return textOf(transaction, "status") === "success";',
    to: 'return textOf(transaction, "status") !== "";',
    tests: ["test/analytics/orders/"],
  },
  {
    name: "The export of figures ends after its first page.",
    file: "src/analytics/insights/showExport.ts",
    from: "if (rows.length < showsPerPage) return;",
    to: "if (rows.length <= showsPerPage) return;",
  },
  {
    name: "The range with which one of ten days is compared overlaps it.",
    file: "src/analytics/insights/storeRange.ts",
    from: "Math.ceil(length / 7) * 7",
    to: "Math.floor(length / 7) * 7",
  },
  {
    name: "Half a cent is rounded to the even cent, not up.",
    file: "src/analytics/kpis/kpis.ts",
    from: "Decimal.ROUND_HALF_UP).toNumber()",
    to: "Decimal.ROUND_HALF_EVEN).toNumber()",
  },
  {
    name: "Orders are attributed by what viewers with the same id did in other stores.",
    file: "src/analytics/orders/attribution/evidence.ts",
    from: 'WHERE v."storeId" = ${storeId} AND v."viewerId" = o."viewerId" AND ${which}',
    to: 'WHERE (v."storeId" = ${storeId} OR true) AND v."viewerId" = o."viewerId" AND ${which}',
    tests: ["test/analytics/orders/"],
  },
  {
    name: "The gross amount of an order falls with a later state.",
    file: "src/analytics/orders/order.state.ts",
    from: "news.isPaid ? Math.max(gross, news.amount) : gross",
    to: "news.isPaid ? news.amount : gross",
  },
  {
    name: "A second folding of totals loses the quantities of products before it.",
    file: "src/analytics/totals/fold.ts",
    from: "quantity = t.quantity + EXCLUDED.quantity,",
    to: "quantity = EXCLUDED.quantity,",
  },
  {
    name: "Of the orders without a viewer that retention removes, a rebuild knows those of the last page only.",
    file: "src/analytics/totals/pruneBefore.sql.ts",
    from: '"ordersWithoutViewer" = t."ordersWithoutViewer" + EXCLUDED."ordersWithoutViewer")',
    to: '"ordersWithoutViewer" = EXCLUDED."ordersWithoutViewer")',
  },
  {
    name: "A list of shows is ordered by the totals of shows with the same ids in all stores.",
    file: "src/analytics/shows/liveStream.order.ts",
    from: 'FROM "LiveStreamTotal" WHERE "storeId" = ${storeId}',
    to: 'FROM "LiveStreamTotal"',
  },
];
