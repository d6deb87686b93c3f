import { Registry } from "prom-client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkNode } from "../../../src/cli/doctor/citus.js";
import { type NodeFindings, readNodeStates } from "../../../src/database/citus/nodeStates.js";
import { collectNodes } from "../../../src/telemetry/nodes.js";
import { fakeCitus } from "../../support/citus/fakeCitus.js";
import { createOwnDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("the nodes of Citus", () => {
  let own: OwnDatabase;
  let connection: { connectionString: string };
  beforeAll(async () => {
    own = await createOwnDatabase("node_states");
    connection = { connectionString: own.url };
  });
  afterAll(() => own.drop());
  beforeEach(async () => void (await own.query(fakeCitus)));

  const add = (host: string) =>
    own.query(`INSERT INTO pg_dist_node VALUES ($1, 5432, 1, true, true, 'primary')`, [host]);

  test("are listed with their settings, or without any if they do not respond", async () => {
    await add("down");
    await add("frozen");
    const found = {
      connections: expect.any(Number),
      connectionsMax: expect.any(Number),
      preparedLong: 0,
      preparedMax: expect.any(Number),
      idleSlots: 0,
      hasJit: expect.any(Boolean),
    };
    expect(await readNodeStates(connection)).toEqual([
      { node: "localhost:5432", found },
      { node: "down:5432", found: undefined },
      { node: "frozen:5432", found: undefined },
    ]);
  });

  test("have metrics, by node", async () => {
    await add("down");
    const registry = new Registry();
    collectNodes(registry, connection);
    const isRead = async () => (await registry.metrics()).includes("node_up{");
    await expect.poll(isRead).toBe(true); // a scrape does not wait for long
    const text = await registry.metrics();
    expect(text).toContain('vitrine_citus_node_up{node="localhost:5432"} 1\n');
    expect(text).toContain('vitrine_citus_node_up{node="down:5432"} 0\n');
    expect(text).toContain('vitrine_citus_node_prepared_transactions{node="localhost:5432"} 0\n');
    expect(text).toContain('vitrine_citus_node_idle_replication_slots{node="localhost:5432"} 0\n');
    expect(text).toMatch(/vitrine_citus_node_connections\{node="localhost:5432"\} \d+\n/u);
    expect(text).not.toContain('connections{node="down:5432"}');
  });

  test("are undefined, and have no metrics, without Citus", async () => {
    await own.query("DROP TABLE pg_dist_node, pg_dist_partition");
    expect(await readNodeStates(connection)).toBeUndefined();
    const registry = new Registry();
    collectNodes(registry, connection);
    expect(await registry.metrics()).not.toContain("{");
  });
});

describe("doctor names a node and gives advice:", () => {
  const well: NodeFindings = {
    connections: 12,
    connectionsMax: 100,
    preparedLong: 0,
    preparedMax: 200,
    idleSlots: 0,
    hasJit: false,
  };
  const used = "12 of 100 connections are used";

  test.each<[string, Partial<NodeFindings> | undefined, string, string]>([
    ["it is well", {}, "ok", used],
    ["it is lost", undefined, "failed", "cannot be reached, or does not answer"],
    [
      "it has forgotten transactions",
      { preparedLong: 2 },
      "warning",
      `${used}; transactions prepared for more than a minute, which keep their locks: 2`,
    ],
    ["it can prepare none", { preparedMax: 0 }, "warning", `${used}; max_prepared_transactions is 0`],
    ["it is full", { connections: 95 }, "warning", "95 of 100 connections are used; these are nearly all"],
    [
      "it has slots that nobody reads",
      { idleSlots: 1 },
      "warning",
      `${used}; inactive replication slots of shard moves, which retain WAL: 1`,
    ],
    ["it compiles", { hasJit: true }, "warning", `${used}; jit is on`],
  ])("%s", (_, found, status, detail) => {
    const check = checkNode({ node: "db1.internal:5432", found: found && { ...well, ...found } });
    expect(check).toMatchObject({ name: "node db1.internal:5432", status, detail });
    expect(check.advice === undefined).toBe(status === "ok");
  });
});
