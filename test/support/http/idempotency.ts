import type { TestApp, TestStore } from "../app.js";

interface KeyedAnswer {
  readonly status: number;
  /** The body as it came. */
  readonly text: string;
  readonly replayed: string | null;
  readonly retryAfter?: string;
}

/** Posts JSON with an Idempotency-Key. */
export async function postWithKey(
  store: Pick<TestStore, "fetch">,
  path: string,
  body: unknown,
  key: string,
): Promise<KeyedAnswer> {
  const response = await store.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });
  const replayed = response.headers.get("idempotency-replayed");
  const retryAfter = response.headers.get("retry-after");
  return {
    status: response.status,
    text: await response.text(),
    replayed,
    ...(retryAfter !== null && { retryAfter }),
  };
}

/** The transactions that wrote a store's products, and the answers under its keys. */
export async function writersOf({ db }: Pick<TestApp, "db">, { id }: Pick<TestStore, "id">): Promise<string[]> {
  const rows = await db.$queryRaw<{ xmin: string }[]>`
    SELECT xmin::text FROM "Product" WHERE "storeId" = ${id}
    UNION SELECT xmin::text FROM "IdempotencyKey" WHERE "storeId" = ${id}`;
  return rows.map(({ xmin }) => xmin);
}
