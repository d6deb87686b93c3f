import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { Problem } from "./floor.problems.js";

/** An event as the floor takes it: those of the benchmark, whose ids are UUIDs. */
interface FloorEvent {
  readonly id: string;
  readonly type: string;
  readonly channel: string;
  readonly viewerId: string;
  readonly device?: string;
  readonly productId?: string;
  readonly seconds?: number;
  readonly amount?: number;
}

/** Events, their distinct viewers, and totals, spread over slots so that clients do not wait for each other. */
export const createFloorEvents = `
  CREATE TABLE floor_event ("storeId" text COLLATE "C" NOT NULL, show text COLLATE "C" NOT NULL, id uuid NOT NULL,
    type text NOT NULL, channel text NOT NULL, "viewerId" uuid NOT NULL, device text, "productId" text, value numeric NOT NULL,
    "occurredAt" timestamptz NOT NULL, PRIMARY KEY ("storeId", show, id));
  CREATE TABLE floor_viewer ("storeId" text COLLATE "C" NOT NULL, show text COLLATE "C" NOT NULL, "viewerId" uuid NOT NULL,
    PRIMARY KEY ("storeId", show, "viewerId"));
  CREATE TABLE floor_total ("storeId" text COLLATE "C" NOT NULL, show text COLLATE "C" NOT NULL, channel text NOT NULL,
    slot int NOT NULL, sales numeric NOT NULL, orders bigint NOT NULL, seconds numeric NOT NULL, viewers bigint NOT NULL,
    PRIMARY KEY ("storeId", show, channel, slot))`;

const slots = 16;
const uuid = { type: "string", pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" };
const text = { type: "string", minLength: 1, maxLength: 255 };
const bodySchema = {
  type: "object",
  required: ["show", "events"],
  additionalProperties: false,
  properties: {
    show: text,
    events: {
      type: "array",
      maxItems: 10_000,
      items: {
        type: "object",
        required: ["id", "type", "channel", "viewerId"],
        additionalProperties: false,
        properties: {
          id: uuid,
          type: { enum: ["VIEW", "ADD_TO_CART", "ORDER"] },
          channel: { enum: ["LIVE", "REPLAY", "REFERRAL"] },
          viewerId: uuid,
          device: text,
          productId: text,
          seconds: { type: "number", minimum: 0, maximum: 86_400 },
          amount: { type: "number", minimum: 0, maximum: 1e9 },
        },
      },
    },
  },
};

const record = (name: string, distinctViewers: string, viewers: string) => ({
  name,
  text: `
    WITH fresh AS (
      INSERT INTO floor_event ("storeId", show, id, type, channel, "viewerId", device, "productId", value, "occurredAt")
      SELECT $1, $2, e.*, now() FROM unnest($4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::text[], $9::text[], $10::numeric[])
        AS e(id, type, channel, "viewerId", device, "productId", value)
      ORDER BY id ON CONFLICT ("storeId", show, id) DO NOTHING RETURNING type, channel, "viewerId", value)${distinctViewers},
    total AS (
      INSERT INTO floor_total AS t ("storeId", show, channel, slot, sales, orders, seconds, viewers)
      SELECT $1, $2, channel, $3::int, sum(sales), sum(orders), sum(seconds), sum(viewers) FROM (
        SELECT channel, coalesce(sum(value) FILTER (WHERE type = 'ORDER'), 0) AS sales,
          count(*) FILTER (WHERE type = 'ORDER') AS orders, coalesce(sum(value) FILTER (WHERE type = 'VIEW'), 0) AS seconds,
          0 AS viewers FROM fresh GROUP BY channel
        ${viewers}) AS parts
      GROUP BY channel ORDER BY channel
      ON CONFLICT ("storeId", show, channel, slot) DO UPDATE SET sales = t.sales + EXCLUDED.sales,
        orders = t.orders + EXCLUDED.orders, seconds = t.seconds + EXCLUDED.seconds, viewers = t.viewers + EXCLUDED.viewers)
    SELECT count(*)::int AS accepted FROM fresh`,
});

const statements = {
  "/events": record("recordEvents", "", ""),
  "/events/viewers": record(
    "recordEventsAndViewers",
    `,
    viewer AS (
      INSERT INTO floor_viewer ("storeId", show, "viewerId") SELECT DISTINCT $1, $2, "viewerId" FROM fresh ORDER BY "viewerId"
      ON CONFLICT ("storeId", show, "viewerId") DO NOTHING RETURNING "viewerId")`,
    "UNION ALL SELECT 'ANY', 0, 0, 0, count(*) FROM viewer HAVING count(*) > 0",
  ),
};

/** A raw chain: one statement inserts a batch and adds what was new to totals; on the second path to distinct viewers too. */
export function addEvents(app: FastifyInstance, pool: Pool): void {
  let slot = 0;
  for (const [path, statement] of Object.entries(statements)) {
    app.post<{ Body: { show: string; events: FloorEvent[] } }>(
      path,
      { schema: { body: bodySchema } },
      // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Fastify awaits them
      async ({ storeId, body: { show, events } }) => {
        const missing = events.find(({ type, amount }) => type === "ORDER" && amount === undefined);
        if (missing !== undefined) throw new Problem(400, "VALIDATION_FAILED", "An ORDER needs an amount.");
        slot = (slot + 1) % slots;
        const column = (value: (event: FloorEvent) => unknown) => events.map(value);
        const { rows } = await pool.query<{ accepted: number }>({
          ...statement,
          values: [
            storeId,
            show,
            slot,
            column(({ id }) => id),
            column(({ type }) => type),
            column(({ channel }) => channel),
            column(({ viewerId }) => viewerId),
            column(({ device }) => device ?? null),
            column(({ productId }) => productId ?? null),
            column(({ type, amount, seconds }) => (type === "ORDER" ? amount : type === "VIEW" ? (seconds ?? 0) : 0)),
          ],
        });
        const accepted = rows[0]?.accepted ?? 0;
        return { accepted, duplicates: events.length - accepted };
      },
    );
  }
}
