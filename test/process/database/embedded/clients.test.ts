// @tier all
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedServer, socketName, startEmbedded } from "../../../../src/database/embedded/engine.js";
import { embeddedConnection } from "../../../../src/database/open.js";
import { within } from "../../../support/busy.js";
import { makeMigratedPlace, removePlace } from "../../../support/process.js";
import { until } from "../../../support/until.js";

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
  const client = new pg.Client({ ...embeddedConnection(server.socketFolder), query_timeout: within(10_000) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
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
      for (let n = 0; n < 100; n += 1) await ask(client, who, n);
    }),
  );
  await Promise.all(clients);
});

test("transactions of several clients run one after the other, and none sees part of another", async () => {
  await query("CREATE TABLE account (id int PRIMARY KEY, amount int)");
  await query("INSERT INTO account VALUES (1, 100), (2, 100)");
  const move = (amount: number) =>
    withClient(async (client) => {
      for (let n = 0; n < 20; n += 1) {
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
  expect(await query("SELECT amount FROM account ORDER BY id")).toEqual([{ amount: 60 }, { amount: 140 }]);
});

test("a statement that fails fails for its own client only", async () => {
  const fail = withClient(async (client) => {
    for (let n = 0; n < 30; n += 1)
      await expect(client.query("SELECT $1::int / 0", [n])).rejects.toThrow("division by zero");
  });
  const work = withClient(async (client) => {
    for (let n = 0; n < 30; n += 1) expect((await client.query("SELECT $1::int AS n", [n])).rows).toEqual([{ n }]);
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
    for (let n = 0; n < 50; n += 1) {
      const { socket } = await connectRaw();
      socket.write(Buffer.concat([message("Q", "BEGIN"), message("Q", insert("d")), ...execute(insert("e"))]));
      await new Promise((resolve) => setTimeout(resolve, n % 5));
      socket.destroy();
    }
    others.atWork = false;
    await Promise.all(work);
    expect(await query("SELECT * FROM kept")).toEqual([]);
  });
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
