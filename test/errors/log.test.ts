import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { loggedError } from "../../src/cli/serve/run.js";
import type { RootDatabase } from "../../src/database/client.js";
import { createTestStore, startApp } from "../support/app.js";
import { brokenDatabase } from "../support/faults/brokenDatabase.js";
import { paths } from "../support/products.js";

const secret = "s3cret-of-a-row";

/** Each fails with an error of PostgreSQL that shows a value. */
const failing: [state: string, message: string, query: (client: RootDatabase) => Promise<unknown>][] = [
  [
    "23514",
    'new row for relation "LiveStream" violates check constraint "LiveStream_status_check"',
    (client) => client.$executeRaw`INSERT INTO "LiveStream" ("storeId", id, number, name, status, "startedAt")
      VALUES ('none', ${secret}, 1, '', 'GONE', '2026-01-01')`,
  ],
  ["22P02", "The database refused a value.", (client) => client.$queryRaw`SELECT ${secret}::text::int`],
];

test.each(failing)(
  "the log says of a query that failed, %s, what and where, and no value",
  async (sqlState, message, query) => {
    const thrown: unknown[] = [];
    const database = brokenDatabase(async ({ client }) => {
      await query(client).catch((error: unknown) => thrown.push(error));
      throw thrown[0];
    });
    const app = await startApp({}, database);
    onTestFinished(() => app.close());
    const store = await createTestStore(app);
    expect((await store.get(paths.of("a"))).status).toBe(500);
    expect((await store.graphql('{ product(productId: "a") { id } }')).errors).toHaveLength(1);

    expect(JSON.stringify(pino.stdSerializers.err(thrown[0] as Error)), "the error itself has it").toContain(secret);
    expect(app.logged).toHaveLength(2);
    for (const line of app.logged) {
      expect(line).not.toContain(secret);
      const { err, msg } = JSON.parse(line);
      expect({ msg, err }).toEqual({
        msg: "operation failed",
        err: {
          type: "PrismaClientKnownRequestError",
          message,
          code: "P2010",
          sqlState,
          stack: expect.stringMatching(/^ +at /u),
        },
      });
    }
  },
);

test("a message is clipped, and what is thrown without being an error says no more than its type", () => {
  const error = new TypeError(`first\n${"x".repeat(10_000)}`);
  const shown = loggedError(error) as { message: string; stack: string };
  expect(shown).toMatchObject({ type: "TypeError", message: `${"x".repeat(500)}…` });
  expect(shown.stack).not.toContain("xxx");
  expect(loggedError({ secret })).toBe("object");
});
