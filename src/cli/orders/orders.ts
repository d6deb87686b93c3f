import type { Command } from "commander";
import { importOrders } from "../../analytics/orders/files/orderImport.js";
import { reconcile } from "../../analytics/orders/files/reconcile.js";
import { count } from "../../lib/text.js";
import { withRelay, withStore } from "../runtime.js";
import { addCommand, addGroup } from "../terminal/command.js";
import { exitStatus } from "../terminal/failure.js";
import { type OutputOptions, print } from "../terminal/output.js";

const examples = `
Examples:
  npx vitrine orders import acme orders.ndjson
  npx vitrine orders import acme orders_export.csv
  npx vitrine orders reconcile acme orders_export.csv`;

const importHelp = `
Each line of an NDJSON file holds one order, as recordOrders takes it; a CSV file is the export of Shopify or WooCommerce. All of it is
checked before anything is stored, and an order that is known already gets the state of the file (docs/orders.md).

Example:
  npx vitrine orders import acme orders.ndjson`;

const reconcileHelp = `
Prints orders of the file that are missing here, orders of its time that it does not have, and other amounts. The exit status is 0
only if nothing differs.

Example:
  npx vitrine orders reconcile acme orders_export.csv`;

export function addOrdersCommands(program: Command): void {
  const orders = addGroup(program, "orders", "orders of the shop", examples);
  addCommand(orders, "import <store>", "record the orders of a file", importHelp)
    .argument("<file>", "NDJSON, or the CSV export of Shopify or WooCommerce")
    .action(async (store: string, file: string, options: OutputOptions) => {
      const { accepted, duplicates, unpaid } = await withStore(store, (db, config, database) =>
        withRelay(database, config, async (notify) => {
          const imported = await importOrders(db, store, file);
          for (const lsId of imported.changed) notify(store, lsId);
          return imported;
        }),
      );
      const text = `${count(accepted, "order")} recorded; ${duplicates} had been recorded before; ${unpaid} were not paid.`;
      await print({ store, accepted, duplicates, unpaid }, text, options);
    });
  addCommand(
    orders,
    "reconcile <store>",
    "compare the orders of a shop's export with those that are known",
    reconcileHelp,
  )
    .argument("<file>", "the CSV export of Shopify or WooCommerce, or NDJSON")
    .action(async (store: string, file: string, options: OutputOptions) => {
      const result = await withStore(store, (db) => reconcile(db, store, file));
      const { differences, differencesTotal, orders: inFile } = result;
      const lines = differences.map(({ kind, id, line, message }) =>
        [line === null ? "" : `line ${line}:`, kind, id, message].filter(Boolean).join(" "),
      );
      const summary = `${count(inFile, "order")} in the file, ${count(differencesTotal, "difference")}.`;
      await print({ store, ...result }, [...lines, summary], options);
      if (differencesTotal > 0) process.exitCode = exitStatus.failed;
    });
}
