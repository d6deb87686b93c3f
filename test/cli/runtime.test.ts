// @engine postgresql
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withUnreachableNodes } from "../../src/cli/runtime.js";
import { AppError } from "../../src/errors.js";
import { fakeCitus } from "../support/citus/fakeCitus.js";
import { createOwnDatabase, type OwnDatabase } from "../support/database/ownDatabase.js";

describe("a command that fails on a stand-in for Citus", () => {
  const timedOut = new AppError("UNAVAILABLE", "The database cannot be used at the moment. Nothing was changed.");
  let own: OwnDatabase;
  let connection: { connectionString: string };
  beforeAll(async () => {
    own = await createOwnDatabase("lost_nodes");
    connection = { connectionString: own.url };
    await own.query(fakeCitus);
  });
  afterAll(() => own.drop());

  const add = (host: string) =>
    own.query(`INSERT INTO pg_dist_node VALUES ($1, 5432, 1, true, true, 'primary')`, [host]);
  const reported = (error: unknown) => withUnreachableNodes(error, connection);

  test("names the nodes that answer nobody, where that may be why", async () => {
    expect(await reported(timedOut)).toBe(timedOut); // all answer
    await add("frozen");
    const message = "The Citus node frozen:5432 does not answer. The command may need it.";
    expect(await reported(timedOut)).toMatchObject({ code: "UNAVAILABLE", message, cause: timedOut });
    await add("down");
    const both = "The Citus nodes frozen:5432, down:5432 do not answer. The command may need them.";
    expect(await reported(timedOut)).toMatchObject({ message: both });
  });

  test("leaves other errors unchanged: invalid input, one that names its node, and a lost database", async () => {
    const wrong = new AppError("NOT_FOUND", "There is no such token.");
    const cause = new Error("connection to the remote node postgres@db1:5432 failed");
    const named = new AppError("UNAVAILABLE", "It cannot be used.", { cause });
    for (const error of [wrong, named]) expect(await reported(error)).toBe(error);
    const nowhere = { connectionString: "postgres://postgres@127.0.0.1:1/none" };
    expect(await withUnreachableNodes(timedOut, nowhere)).toBe(timedOut);
  });
});
