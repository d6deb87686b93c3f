import { expect, test } from "vitest";
import { setStore } from "../../../src/stores/store.js";
import { addHook, noteFault } from "../../../src/orders/hooks/hook.js";
import { openCommands } from "../../support/process/cli.js";
import { woocommerceOrder } from "../../support/figures/hooks.js";
import { pluginCsv, pluginRow } from "../../support/figures/orderFiles.js";
import { sweptOrders } from "../../support/figures/orders.js";

const { db, run, json, refusal, newStore, fileOf } = await openCommands();

async function euroStore(): Promise<string> {
  const store = await newStore();
  await setStore(db, store, { currency: "EUR" });
  return store;
}

const csv = pluginCsv([
  pluginRow("1"),
  pluginRow("2", { "Order Status": "on-hold" }),
  pluginRow("3", { "Order Status": "cancelled" }),
]);

test("orders import says what was recorded, what was not paid by its status, and what differs", async () => {
  const store = await euroStore();
  const file = await fileOf(csv, "orders.csv");
  const result = {
    store,
    accepted: 1,
    duplicates: 0,
    unpaid: 2,
    statuses: [
      { status: "on-hold", orders: 1 },
      { status: "cancelled", orders: 1 },
    ],
    different: 0,
    differences: [],
  };
  expect(await json("orders", "import", store, file)).toEqual(result);
  const other = await fileOf(csv.replaceAll("119.00", "99.00"), "orders.csv");
  expect(await run("orders", "import", store, other)).toEqual({
    status: 0,
    stdout: [
      "0 orders recorded; 1 had been recorded before; 2 were not paid (on-hold: 1, cancelled: 1).",
      "1 order differs from the recorded state, which was kept. orders reconcile shows all:",
      "line 2: 1 99 in the file, 119 here.",
      "",
    ].join("\n"),
    stderr: "",
  });
  expect(await run("orders", "reconcile", store, other)).toMatchObject({
    status: 1,
    stdout: "line 2: different 1 99 in the file, 119 here.\n1 order in the file, 1 difference.\n",
  });
});

test("hook list says what could not be used, and how to record the orders that are missing", async () => {
  const store = await euroStore();
  const { id } = await addHook(db, store, { from: "shopify" });
  const advice = "Orders that are missing can be recorded from the shop's export";
  expect((await run("hook", "list", store)).stdout).not.toContain(advice);
  const known = await db.store.findUniqueOrThrow({ where: { id: store } });
  const hook = { id, storeId: store, storeCreatedAt: known.createdAt, from: "shopify", secret: "" } as const;
  await noteFault(db, hook, "The body is not JSON.");
  const { stdout } = await run("hook", "list", store);
  expect(stdout).toMatch(/^ {2}1 times, last .*: The body is not JSON\.$/mu);
  expect(stdout).toContain(`  ${advice}: npx vitrine orders import.\n`);
});

test("orders import reads a REST list, and says what was not used", async () => {
  const store = await euroStore();
  const meta_data = [{ key: "vitrine_viewer", value: { a: 1 } }];
  const list = [woocommerceOrder(1, { meta_data }), woocommerceOrder(2, { status: "on-hold", date_paid_gmt: null })];
  const file = await fileOf(list.map((order) => `${JSON.stringify(order)}\n`).join(""), "orders.ndjson");
  expect(await run("orders", "import", store, file)).toEqual({
    status: 0,
    stdout: [
      "1 order recorded; 0 had been recorded before; 1 were not paid (on-hold: 1).",
      "1 order: vitrine_viewer is not a text: no viewer was read.",
      "",
    ].join("\n"),
    stderr: "",
  });
  expect(await run("orders", "reconcile", store, file)).toMatchObject({
    status: 0,
    stdout: "1 order in the file, 0 differences.\n",
  });
});

test("the first 10 orders that differ are named, and all are counted", async () => {
  const store = await euroStore();
  const rows = Array.from({ length: 12 }, (_, index) => pluginRow(String(index)));
  await json("orders", "import", store, await fileOf(pluginCsv(rows), "orders.csv"));
  const other = await fileOf(pluginCsv(rows).replaceAll("119.00", "120.00"), "orders.csv");
  const { different, differences } = await json("orders", "import", store, other);
  expect([different, differences.length, differences[9]]).toEqual([
    12,
    10,
    { id: "9", line: 11, message: "120 in the file, 119 here." },
  ]);
});

test("a file that is refused is refused by both commands, with the line and what to do", async () => {
  const store = await euroStore();
  const file = await fileOf(csv.replace("119.00", "N/A"), "orders.csv");
  for (const command of ["import", "reconcile"]) {
    const [status, reason] = await refusal("orders", command, store, file);
    expect([status, reason]).toEqual([1, expect.stringContaining("Line 2: Order Total must be an amount of EUR")]);
  }
  const empty = await fileOf("", "orders.csv");
  const [, reason] = await refusal("orders", "import", store, empty);
  expect(reason).toContain("The file has no orders: export them again.");
});

test("both helps say what a file may change", async () => {
  const { stdout: ofImport } = await run("orders", "import", "--help");
  const { stdout: ofReconcile } = await run("orders", "reconcile", "--help");
  expect(ofImport.replaceAll(/\s+/gu, " ")).toContain(
    "To a known order it adds the viewer and the lines if these are missing, raises its refunds to the total in the file, and removes " +
      "what is left if the order was cancelled or refunded. It changes neither amounts nor times, and never reverses a refund",
  );
  expect(ofImport.replaceAll(/\s+/gu, " ")).toContain(
    "as the REST API of Shopify or WooCommerce lists it, which is its state at its last change, as in a hook",
  );
  expect(ofReconcile).toContain("changes nothing");
});

test("attribution set says how many orders a server attributes again, and show says by which rule and how many it has", async () => {
  const store = await euroStore();
  const [rule, ofRule] = [["--rule", "LAST_SHOW", "--window", "2d"], { rule: "LAST_SHOW", windowHours: 48 }];
  expect(await run("attribution", "set", store, ...rule)).toMatchObject({
    stdout: `Orders of ${store} are now attributed by LAST_SHOW within 2 days.\n`,
  });
  await sweptOrders(db, store);
  await json("orders", "import", store, await fileOf(pluginCsv([pluginRow("1"), pluginRow("2")]), "orders.csv"));
  expect(await json("attribution", "set", store, ...rule)).toEqual({ store, ...ofRule, due: 2 });
  await db.store.update({ where: { id: store }, data: { recountOrders: 2_000, recountDone: 500 } });
  const { stdout } = await run("attribution", "show", store);
  expect(stdout).toMatch(
    /^Orders of \S+ are attributed by LAST_SHOW within 2 days\.( 500 of 2000 orders have been attributed again\.)?\n$/u,
  );
  await sweptOrders(db, store);
  expect(await json("attribution", "show", store)).toEqual({ store, ...ofRule, recount: null });
  expect(await json("attribution", "set", store, ...rule, "--dry-run")).toEqual({
    store,
    ...ofRule,
    orders: 2,
    previewed: 2,
    changes: [],
  });
});
