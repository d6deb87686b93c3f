import { describe, expect, test } from "vitest";
import { checkCitusNode } from "../../../src/cli/doctor/databaseChecks.js";
import type { NodeFindings } from "../../../src/database/citus/nodeStates.js";

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
      `${used}; transactions that were prepared over a minute ago and still hold locks: 2`,
    ],
    ["it can prepare none", { preparedMax: 0 }, "warning", `${used}; max_prepared_transactions is 0`],
    ["it is full", { connections: 95 }, "warning", "95 of 100 connections are used; these are nearly all"],
    [
      "it has slots that nobody reads",
      { idleSlots: 1 },
      "warning",
      `${used}; inactive replication slots of shard moves retain WAL: 1`,
    ],
    ["it compiles", { hasJit: true }, "warning", `${used}; jit is on`],
  ])("%s", (_, found, status, detail) => {
    const check = checkCitusNode({ node: "db1.internal:5432", found: found && { ...well, ...found } });
    expect(check).toMatchObject({ name: "node db1.internal:5432", status, detail });
    expect(check.advice === undefined).toBe(status === "ok");
  });
});
