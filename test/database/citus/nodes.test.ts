import { expect, test } from "vitest";
import { type AskNodes, createStoreNodes } from "../../../src/database/citus/nodes.js";
import { stopClock } from "../../support/clock.js";

/** A catalog of Citus that answers at once, and what it was asked. */
function catalog(nodes: ReadonlyMap<string, string> | undefined) {
  const asked: string[][] = [];
  const ask: AskNodes = async (storeIds) => {
    asked.push([...storeIds]);
    return nodes && { nodes, runStatements: true };
  };
  return { asked, ...createStoreNodes(ask, () => undefined) };
}

/** Until what is under way has been answered. */
async function answered(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("the nodes of stores requested together are looked up by one query, once", async () => {
  const { asked, nodeOf } = catalog(new Map([["a", "1"], ["b", "2"]])); // prettier-ignore
  expect([nodeOf("a"), nodeOf("b"), nodeOf("a")]).toEqual([undefined, undefined, undefined]);
  await answered();
  expect([nodeOf("a"), nodeOf("b")]).toEqual(["1", "2"]);
  expect(asked).toEqual([["a", "b"]]);
});

test("stores whose node is not known yet form one group, since they might all be on one node", async () => {
  const { nodeOf } = catalog(new Map([["a", "1"]]));
  nodeOf("a");
  await answered();
  const [first, second] = [nodeOf("b"), nodeOf("c")];
  expect(first).toBeDefined();
  expect(second).toBe(first);
});

test("a database without nodes is queried once for all of its stores", async () => {
  const { asked, nodeOf } = catalog(undefined);
  nodeOf("a");
  await answered();
  expect([nodeOf("a"), nodeOf("b")]).toEqual([undefined, undefined]);
  await answered();
  expect(asked).toEqual([["a"]]);
});

test("a moved store is noticed after half a minute, without delaying a request", async () => {
  const clock = stopClock();
  const nodes = new Map([["a", "1"]]);
  const { asked, nodeOf } = catalog(nodes);
  nodeOf("a");
  await answered();
  nodes.set("a", "2");
  clock.pass(31_000);
  expect(nodeOf("a")).toBe("1");
  await answered();
  expect(nodeOf("a")).toBe("2");
  expect(asked).toEqual([["a"], ["a"]]);
});

test("while the catalog cannot be read, the nodes known so far are used", async () => {
  let isDown = false;
  const { nodeOf } = createStoreNodes(
    async () => {
      if (isDown) throw new Error("down");
      return { nodes: new Map([["a", "1"]]), runStatements: true };
    },
    () => undefined,
  );
  nodeOf("a");
  await answered();
  isDown = true;
  nodeOf("b");
  await answered();
  expect(nodeOf("a")).toBe("1");
});
