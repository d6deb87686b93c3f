import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type EmbeddedServer, socketName, startEmbedded } from "../../../src/database/embedded/embeddedEngine.js";
import { embeddedConnection } from "../../../src/database/open.js";
import { makeMigratedPlace, removePlace } from "../../support/process.js";
import { until } from "../../support/until.js";

let server: EmbeddedServer;
beforeAll(async () => {
  const place = await makeMigratedPlace();
  server = await startEmbedded({ folder: join(place.dataDir, "postgres") });
  await query("CREATE TABLE kept (value text)");
  return async () => {
    await server.close();
    await removePlace(place);
  };
});

async function withClient<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ ...embeddedConnection(server.socketFolder), query_timeout: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A client for one test. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ ...embeddedConnection(server.socketFolder), query_timeout: 10_000 });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function query(sql: string, values: unknown[] = []): Promise<unknown[]> {
  return withClient(async (client) => (await client.query(sql, values)).rows);
}

test("ten concurrent clients get the answers to their own statements only", async () => {
  const ask = async (client: pg.Client, who: number, n: number) => {
    // Statements of different shape and number of parameters, so that a mix-up would not go unnoticed.
    const [columns, values] = [
      Array.from({ length: (who % 4) + 1 }, (_, i) => `$${i + 1}::text AS c${i}`),
      [] as string[],
    ];
    for (let i = 0; i < columns.length; i += 1) values.push(`${who}-${n}-${i}`);
    const { rows } = await client.query(`SELECT ${columns.join(", ")}`, values);
    expect(rows).toEqual([Object.fromEntries(values.map((value, i) => [`c${i}`, value]))]);
  };
  const clients = Array.from({ length: 10 }, (_, who) =>
    withClient(async (client) => {
      for (let n = 0; n < 20; n += 1) await ask(client, who, n);
    }),
  );
  await Promise.all(clients);
});

test("transactions of several clients run one after the other, and none sees part of another", async () => {
  await query("CREATE TABLE account (id int PRIMARY KEY, amount int)");
  await query("INSERT INTO account VALUES (1, 100), (2, 100)");
  const move = (amount: number) =>
    withClient(async (client) => {
      for (let n = 0; n < 6; n += 1) {
        await client.query("BEGIN");
        const { rows } = await client.query("SELECT sum(amount)::int AS total FROM account WHERE id = ANY($1)", [
          [1, 2],
        ]);
        expect(rows).toEqual([{ total: 200 }]);
        await client.query("UPDATE account SET amount = amount - $1 WHERE id = 1", [amount]);
        await client.query("UPDATE account SET amount = amount + $1 WHERE id = 2", [amount]);
        await client.query(n % 2 === 0 ? "COMMIT" : "ROLLBACK");
      }
    });
  await Promise.all([move(1), move(2), move(-4), move(5)]);
  expect(await query("SELECT amount FROM account ORDER BY id")).toEqual([{ amount: 88 }, { amount: 112 }]);
});

test("a statement that fails fails for its own client only", async () => {
  const fail = withClient(async (client) => {
    for (let n = 0; n < 10; n += 1)
      await expect(client.query("SELECT $1::int / 0", [n])).rejects.toThrow("division by zero");
  });
  const work = withClient(async (client) => {
    for (let n = 0; n < 10; n += 1) expect((await client.query("SELECT $1::int AS n", [n])).rows).toEqual([{ n }]);
  });
  await Promise.all([fail, work]);
});

describe("a client that disconnects leaves nothing behind and blocks no other", () => {
  const insert = (value: string) => `INSERT INTO kept VALUES ('${value}')`;
  const wrong = message("P", "", "SELEC 1", int16(0));
  const deaths: [string, Buffer[], string][] = [
    ["in a transaction", [message("Q", "BEGIN"), message("Q", insert("a"))], "INSERT 0 1\0Z\0\0\0\u0005T"],
    ["in a failed transaction", [message("Q", "BEGIN"), message("Q", "SELECT 1 / 0")], "Z\0\0\0\u0005E"],
    ["between the parts of an exchange", [message("P", "", "SELECT 1", int16(0)), message("H")], "1\0\0\0\u0004"],
    ["after a statement without its Sync", [...execute(insert("b")), message("H")], "INSERT 0 1"],
    ["after an error without its Sync", [wrong, message("H")], "syntax error"],
    [
      "in a transaction, after an error without its Sync",
      [message("Q", "BEGIN"), message("Q", insert("c")), wrong, message("H")],
      "syntax error",
    ],
  ];

  test.each(deaths)("%s", async (_, messages, answered) => {
    const { socket, received } = await connectRaw();
    socket.write(Buffer.concat(messages));
    await until(() => received().includes(answered), "the answer before the death");
    socket.destroy();
    expect(await query("SELECT $1::int AS one", [1])).toEqual([{ one: 1 }]);
    expect(await query("SELECT * FROM kept")).toEqual([]);
  });

  test("with a Terminate in the middle of an exchange", async () => {
    const { socket } = await connectRaw();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.end(Buffer.concat([...execute(insert("f")), message("X")]));
    await closed;
    expect(await query("SELECT $1::int AS one", [1])).toEqual([{ one: 1 }]);
    expect(await query("SELECT * FROM kept")).toEqual([]);
  });

  test("at any moment, while others work", async () => {
    const others = { atWork: true };
    const work = [0, 1, 2].map((who) =>
      withClient(async (client) => {
        while (others.atWork) expect((await client.query("SELECT $1::int AS who", [who])).rows).toEqual([{ who }]);
      }),
    );
    for (let n = 0; n < 20; n += 1) {
      const { socket } = await connectRaw();
      socket.write(Buffer.concat([message("Q", "BEGIN"), message("Q", insert("d")), ...execute(insert("e"))]));
      for (let turn = 0; turn < n; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
    }
    others.atWork = false;
    await Promise.all(work);
    expect(await query("SELECT * FROM kept")).toEqual([]);
  });
});

/** With a parameter, a statement is parsed apart from its values. */
async function rowsOf(client: pg.Client, sql: string, values: unknown[] = [1]): Promise<unknown[]> {
  return (await client.query(sql, values)).rows;
}

async function prepared(client: pg.Client): Promise<number> {
  return (await preparedTexts(client)).length;
}

async function preparedTexts(client: pg.Client): Promise<string[]> {
  const sql = "SELECT statement FROM pg_prepared_statements WHERE name LIKE 'vitrine%'";
  return (await client.query<{ statement: string }>(sql)).rows.map(({ statement }) => statement);
}

test("a statement that comes again stays prepared, for all clients", async () => {
  const [one, other] = [await connect(), await connect()];
  const before = await prepared(one);
  const sql = "SELECT $1::int + 1 AS next";
  for (let n = 0; n < 20; n += 1) expect(await rowsOf(n % 2 === 0 ? one : other, sql, [n])).toEqual([{ next: n + 1 }]);
  expect(await prepared(one)).toBe(before + 1);
});

test("at most a hundred are kept, and what is no longer kept is prepared once more", async () => {
  const client = await connect();
  for (let round = 0; round < 2; round += 1)
    for (let n = 0; n < 130; n += 1)
      expect(await rowsOf(client, `SELECT $1::int + ${n} AS sum`)).toEqual([{ sum: n + 1 }]);
  expect(await prepared(client)).toBeLessThanOrEqual(100);
  expect(await prepared(client)).toBeGreaterThan(50);
});

test("a statement that fails fails each time, and succeeds once it can", async () => {
  const client = await connect();
  const sql = "SELECT name FROM late WHERE $1::int = 1";
  for (let n = 0; n < 4; n += 1) await expect(rowsOf(client, sql)).rejects.toThrow('relation "late" does not exist');
  await client.query("CREATE TABLE late (name text)");
  for (let n = 0; n < 4; n += 1) expect(await rowsOf(client, sql)).toEqual([]);
  for (let n = 0; n < 4; n += 1)
    await expect(rowsOf(client, "SELECT 1 / $1::int AS part", [0])).rejects.toThrow("division by zero");
  expect(await rowsOf(client, "SELECT 1 / $1::int AS part", [1])).toEqual([{ part: 1 }]);
});

test("what others change of a table is seen at once, also in a transaction and after it was rolled back", async () => {
  const [one, other] = [await connect(), await connect()];
  await other.query("CREATE TABLE changing (a int)");
  await other.query("INSERT INTO changing VALUES (1)");
  const sql = "SELECT * FROM changing WHERE $1::int = 1";
  const see = async (client: pg.Client, shown: object) => {
    for (let n = 0; n < 4; n += 1) expect(await rowsOf(client, sql)).toEqual([shown]);
  };
  await see(one, { a: 1 });
  await other.query("ALTER TABLE changing ADD b text DEFAULT 'x'");
  await see(one, { a: 1, b: "x" });
  await other.query("BEGIN");
  await other.query("ALTER TABLE changing ALTER a TYPE text");
  await see(other, { a: "1", b: "x" });
  await other.query("ROLLBACK");
  await see(one, { a: 1, b: "x" });
  await rowsOf(other, "DO $do$ BEGIN ALTER TABLE changing DROP b; END $do$", []);
  await see(one, { a: 1 });
  await other.query("DEALLOCATE ALL");
  await see(one, { a: 1 });
  await other.query(
    `CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql AS 'BEGIN ALTER TABLE changing ADD c int; END'`,
  );
  await see(one, { a: 1 });
  await rowsOf(other, "SELECT change()", []);
  await rowsOf(one, sql).catch(() => undefined); // PostgreSQL: cached plan must not change result type
  await see(one, { a: 1, c: null });
  await other.query("ALTER TABLE changing DROP c");
  await see(one, { a: 1 });
  await other.query("DISCARD ALL");
  await see(one, { a: 1 });
});

test("a temporary table changes only statements that name it: others stay prepared", async () => {
  const [one, other] = [await connect(), await connect()];
  await one.query("CREATE TABLE hidden (lasting int)");
  await one.query("INSERT INTO hidden VALUES (1)");
  const unrelated = "SELECT $1::int + 5 AS unrelated";
  const sql = "SELECT * FROM Hidden WHERE $1::int = 1";
  const see = async (client: pg.Client, shown: object) => {
    for (let n = 0; n < 4; n += 1) expect(await rowsOf(client, sql)).toEqual([shown]);
  };
  for (let n = 0; n < 2; n += 1) await rowsOf(other, unrelated);
  await see(one, { lasting: 1 });
  for (const [column, end] of [
    ["a", "COMMIT"],
    ["b", "COMMIT"],
    ["a", "ROLLBACK"],
  ] as const) {
    await one.query("BEGIN");
    await rowsOf(one, `CREATE TEMPORARY TABLE "hidden" (${column} int)\n ON COMMIT DROP`, []);
    await one.query("INSERT INTO hidden VALUES (2)");
    await see(one, { [column]: 2 });
    await one.query(end);
    await see(other, { lasting: 1 });
    expect(await preparedTexts(other)).toContain(unrelated);
  }
  await one.query("BEGIN");
  await one.query("CREATE TEMPORARY TABLE unrelated (a int DEFAULT 1 /* ALTER */) ON COMMIT DROP");
  await one.query("COMMIT");
  await other.query("SELECT 1"); // what is no longer kept is closed before it
  expect(await preparedTexts(other), "where anything else may change").not.toContain(unrelated);
});

test("in a transaction that has failed, statements are refused until its end, and then work", async () => {
  const client = await connect();
  const sql = "SELECT $1::text AS text";
  for (let n = 0; n < 3; n += 1) await rowsOf(client, sql, ["a"]);
  await client.query("BEGIN");
  await expect(client.query("SELECT 1 / 0")).rejects.toThrow("division by zero");
  for (const again of [sql, "SELECT $1::text AS other"])
    await expect(rowsOf(client, again, ["b"])).rejects.toThrow("current transaction is aborted");
  await client.query("ROLLBACK");
  expect(await rowsOf(client, sql, ["c"])).toEqual([{ text: "c" }]);
  expect(await rowsOf(client, "SELECT $1::text AS other", ["d"])).toEqual([{ other: "d" }]);
});

test("a client may name its own, and the columns of a statement can be asked for", async () => {
  const [one, other] = [await connect(), await connect()];
  for (let n = 0; n < 3; n += 1) {
    expect((await one.query({ name: "mine", text: "SELECT $1::int AS n", values: [n] })).rows).toEqual([{ n }]);
    const { rows: none, fields } = await other.query("SELECT $1::int AS n, 'a' AS a WHERE false", [n]);
    expect([none, fields.map(({ name }) => name)]).toEqual([[], ["n", "a"]]);
  }
});

/** A connection that speaks the wire protocol by hand, past its start. */
async function connectRaw(): Promise<{ socket: Socket; received: () => string }> {
  const socket = createConnection(join(server.socketFolder, socketName));
  let text = "";
  socket.setEncoding("latin1").on("data", (data: string) => {
    text += data;
  });
  const parameters = Buffer.from("\0\u0003\0\0user\0postgres\0database\0postgres\0\0");
  socket.write(Buffer.concat([int32(parameters.length + 4), parameters]));
  await until(() => text.endsWith("Z\0\0\0\u0005I"), "the connection to be ready");
  text = "";
  return { socket, received: () => text };
}

/** A message of the wire protocol (PostgreSQL manual, 55.7): its type, its length, strings that end with NUL. */
function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : part)));
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function execute(sql: string): Buffer[] {
  return [
    message("P", "", sql, int16(0)),
    message("B", "", "", int16(0), int16(0), int16(0)),
    message("E", "", int32(0)),
  ];
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

test("the process that runs the engine is told of each notification, also once its statement stays prepared, and of nothing else", async () => {
  let told = 0;
  server.onNotified(() => (told += 1));
  await withClient(async (client) => {
    const notify = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
    for (let time = 0; time < 3; time += 1) {
      await client.query("SELECT $1::text", ["pg_notify("]);
      await client.query(notify, ["shows", ["one", "other"]]);
    }
  });
  await until(() => told === 3, "three notifications");
  await query("SELECT 1");
  expect(told).toBe(3);
});
