import { randomUUID } from "node:crypto";
import { getNamedType, isObjectType } from "graphql";
import { expect } from "vitest";
import { schema } from "../../src/api/graphql/schema.js";
import { documentedFields } from "../../src/api/rest/routes/routes.contract.js";
import type { TestApp, TestStore } from "./app.js";
import { ofTest } from "./citus/recording.js";
import { kpis, type SentEvent } from "./oracle.js";
import { type ExpectedProblem, graphqlError } from "./problems.js";

export interface SentShow {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly durationSeconds?: number | null;
  readonly host?: { readonly name: string; readonly email: string } | null;
}

const fieldsOfShow = "id name status startedAt endedAt durationSeconds host { name email }";

export const saveShow = `
  mutation ($liveStream: LiveStreamInput!) { saveLiveStream(liveStream: $liveStream) { ${fieldsOfShow} } }
`;

export const deleteShow = `
  mutation ($lsId: String!, $force: Boolean) { deleteLiveStream(lsId: $lsId, force: $force) { message events } }
`;

export const readShow = `query ($lsId: String!) { liveStream(lsId: $lsId) { ${fieldsOfShow} } }`;

export const record = `
  mutation ($lsId: String!, $events: [ShopperEventInput!]!) {
    recordShopperEvents(lsId: $lsId, events: $events) { accepted duplicates }
  }
`;

/** All fields of a type, and those below them. */
function selectionOf(type: string): string {
  const object = schema.getType(type);
  if (!isObjectType(object)) return "";
  const fields = Object.values(object.getFields());
  return `{ ${fields.map((field) => `${field.name} ${selectionOf(getNamedType(field.type).name)}`).join(" ")} }`;
}

const kpiSelection = selectionOf("Kpis");
export const kpiFields = kpiSelection.slice(1, -1);

/** What the documented path gives of the KPIs of these events, in its order. */
export function documentedKpis(events: readonly SentEvent[]): unknown {
  return documentedOf("Kpis", kpis(events));
}

function documentedOf(type: string, value: unknown): unknown {
  const object = schema.getType(type);
  if (!isObjectType(object) || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => documentedOf(type, item));
  const fields = object.getFields();
  const names = documentedFields[type] ?? Object.keys(value);
  return Object.fromEntries(
    names.map((name) => {
      const field = fields[name];
      if (field === undefined) throw new Error(`${type} has no field ${name}.`);
      return [name, documentedOf(getNamedType(field.type).name, Reflect.get(value, name))];
    }),
  );
}

/** Everything that GraphQL has of a show's analytics. */
export const readAnalytics = `
  query ($lsId: String!, $bucketSeconds: Int! = 60, $first: Int) {
    liveStreamAnalytics(lsId: $lsId) {
      ${fieldsOfShow}
      kpis ${kpiSelection}
      peakConcurrentViewers
      timeline(bucketSeconds: $bucketSeconds) { startsAt viewers carts orders sales }
      topProducts(first: $first) { productId carts orders quantity sales }
      devicesByChannel { channel devices { device value } }
    }
  }
`;

/** An ended show of an hour, and what else is given. */
export function show(fields: Partial<SentShow> = {}): SentShow {
  return {
    id: `show-${randomUUID()}`,
    name: "Spring collection",
    status: "ENDED",
    startedAt: "2026-05-04T18:30:00.000Z",
    durationSeconds: 3_600,
    host: { name: "Robin Host", email: "robin@shop.example" },
    ...fields,
  };
}

/** What is answered of the show that `show()` makes, in REST; GraphQL adds the status. */
export function savedShow({ id }: Pick<SentShow, "id">) {
  return {
    id,
    name: "Spring collection",
    startedAt: "2026-05-04T18:30:00.000Z",
    endedAt: "2026-05-04T19:30:00.000Z",
    durationSeconds: 3_600,
    host: { name: "Robin Host", email: "robin@shop.example" },
  };
}

/** Saves a show and gives it back. @throws if it is refused */
export async function saved(store: TestStore, fields: Partial<SentShow> = {}): Promise<SentShow> {
  const liveStream = show(fields);
  const { errors } = await store.graphql(saveShow, { liveStream });
  if (errors !== undefined) throw new Error(`The show was refused: ${JSON.stringify(errors)}`);
  return liveStream;
}

/** Records a batch and gives the receipt. @throws if it is refused */
export async function recorded(store: TestStore, lsId: string, events: readonly SentEvent[]) {
  const { data, errors } = await store.graphql(record, { lsId, events });
  if (errors !== undefined) throw new Error(`The events were refused: ${JSON.stringify(errors)}`);
  return data.recordShopperEvents as { readonly accepted: number; readonly duplicates: number };
}

/** The documented path of a show's analytics, its id encoded once. */
export function analyticsPath(lsId: string): string {
  return `/external/analytics/v1/live-streams/${encodeURIComponent(lsId)}`;
}

/** The KPIs as REST gives them. */
export async function readKpis(store: TestStore, lsId: string) {
  const { status, body } = await store.get(analyticsPath(lsId));
  if (status !== 200) throw new Error(`REST answered ${status}: ${JSON.stringify(body)}`);
  return body.kpis;
}

/** What saving a show answers that is refused by its rules. */
export function refusedShow(...errors: readonly ExpectedProblem[]) {
  const message = errors.length === 1 ? errors[0]?.message : `${errors.length} problems. Nothing was stored.`;
  return {
    errors: [
      {
        ...graphqlError("VALIDATION_FAILED", message ?? "", errors),
        path: ["saveLiveStream"],
        locations: expect.any(Array),
      },
    ],
    data: { saveLiveStream: null },
  };
}

/** A problem of a field of a show. */
export const showProblem = (field: string | readonly string[], code: string, message: string): ExpectedProblem => ({
  code,
  message,
  path: ["liveStream", ...(typeof field === "string" ? [field] : field)],
});

/**
 * Makes many ended shows at once, `show-0` and so on, each so much earlier than the one before; making them one by one would take
 * seconds.
 *
 * @param name the name of a show, in SQL, by its index `n`
 */
export async function addShows(
  { db }: Pick<TestApp, "db">,
  { id: storeId }: Pick<TestStore, "id">,
  of: { readonly count: number; readonly name: string; readonly newest: Date; readonly apartSeconds: number },
): Promise<void> {
  const statement = `
    INSERT INTO "LiveStream" ("storeId", "id", "number", "name", "status", "startedAt", "durationSeconds")
    SELECT $1, 'show-' || n, n + 1, ${of.name}, 'ENDED', $2::timestamptz - n * interval '${of.apartSeconds} seconds', 60
    FROM generate_series(0, ${of.count - 1}) AS n`;
  await db.$executeRawUnsafe(ofTest(statement), storeId, of.newest);
}
