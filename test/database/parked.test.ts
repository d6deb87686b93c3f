import { expect, test } from "vitest";
import { withParked } from "../../src/database/parked.js";
import { testDatabase } from "../support/app.js";

test("a parked value stands in the statement, in and out of transactions, and its ticket means nothing afterwards", async () => {
  const database = testDatabase();
  const db = database.client;
  const value = `{"a ""b""",${"x".repeat(100_000)}}`;
  const tickets: string[] = [];
  const ask = (ticket: string) => db.$queryRaw`SELECT ${ticket} AS value`;
  await withParked(async (park) => {
    tickets.push(park(value), park(""));
    expect(await Promise.all(tickets.map(ask))).toEqual([[{ value }], [{ value: "" }]]);
    expect(await db.$transaction((inner) => inner.$queryRaw`SELECT ${tickets[0]} AS value`)).toEqual([{ value }]);
    expect(await ask("no ticket")).toEqual([{ value: "no ticket" }]);
  });
  expect(await Promise.all(tickets.map(ask))).toEqual(tickets.map((ticket) => [{ value: ticket }]));

  const failed = withParked((park) => {
    tickets.push(park(value));
    return Promise.reject(new Error("enough"));
  });
  await expect(failed).rejects.toThrow("enough");
  expect(await ask(tickets[2] ?? "")).toEqual([{ value: tickets[2] }]);
  await database.close();
});
