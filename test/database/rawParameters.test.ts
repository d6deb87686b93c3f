import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { withRawParameters } from "../../src/database/rawParameters.js";
import { openConnections } from "../support/app.js";

test("a raw parameter replaces its placeholder, also in transactions, until the work ends", async () => {
  const { client: db } = openConnections();
  const value = `{"a ""b""",${"x".repeat(100_000)}}`;
  const placeholders: string[] = [];
  const ask = (placeholder: string) => db.$queryRaw`SELECT ${placeholder} AS value`;
  await withRawParameters(async (bind) => {
    placeholders.push(bind(value), bind(""));
    expect(await Promise.all(placeholders.map(ask))).toEqual([[{ value }], [{ value: "" }]]);
    expect(await db.$transaction((inner) => inner.$queryRaw`SELECT ${placeholders[0]} AS value`)).toEqual([{ value }]);
    expect(await ask("no placeholder")).toEqual([{ value: "no placeholder" }]);
  });
  expect(await Promise.all(placeholders.map(ask))).toEqual(placeholders.map((placeholder) => [{ value: placeholder }]));

  const failed = withRawParameters((bind) => {
    placeholders.push(bind(value));
    return Promise.reject(new Error("enough"));
  });
  await expect(failed).rejects.toThrow("enough");
  expect(await ask(placeholders[2] ?? "")).toEqual([{ value: placeholders[2] }]);
});

test("no value of a statement is kept once it has run, though Prisma keeps its last statements for a debug log", async () => {
  const { client } = openConnections();
  const mark = randomUUID(); // other files of this worker have statements under way, whose values are in the log
  const value = `kept ${mark} ${"x".repeat(2_000)}`;
  await withRawParameters((bind) => client.$queryRaw`SELECT ${bind(value)} AS sent`);
  await expect(client.$executeRaw`SELECT ${value}::int`).rejects.toThrow("invalid input syntax");
  const prismaDebug = "@prisma/debug"; // a package of Prisma's own
  const { getLogs } = (await import(prismaDebug)) as { getLogs: (characters: number) => string };
  const logs = getLogs(1e7);
  expect(logs).toMatch(/SELECT \$1 AS sent/u);
  expect(logs).toMatch(/SELECT \$1::int/u);
  expect(logs).not.toContain(mark);
});
