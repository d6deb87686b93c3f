import type { Command } from "commander";
import { importOrders, type OrderImport } from "../../orders/files/orderImport.js";
import { reconcile } from "../../orders/files/reconcile.js";
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
Each line of an NDJSON file holds one order: either as recordOrders takes it, which is then its newest state, or as the REST API of
Shopify or WooCommerce lists it, which is its state at its last change, as in a hook. A CSV file is the export of Shopify or
WooCommerce. It creates unknown orders that were paid. To a known order it adds the viewer and the lines if these are missing, raises
its refunds to the total in the file, and removes what is left if the order was cancelled or refunded. It changes neither amounts nor
times, and never reverses a refund: the command counts orders that differ, and names the first ones. It checks the whole file before
it stores anything, and names the line of what it cannot read (docs/orders.md).

Example:
  npx vitrine orders import acme orders.ndjson`;

const reconcileHelp = `
Prints orders that are only in the file, orders of the same time that are only here, orders that count here but are unpaid or cancelled
in the file, and amounts that differ. The file is checked as in orders import. The command changes nothing. The exit status is 0 only
if nothing differs.

Example:
  npx vitrine orders reconcile acme orders_export.csv`;

const fileHelp = "NDJSON, or the CSV export of Shopify or WooCommerce";

export function addOrdersCommands(program: Command): void {
  const orders = addGroup(program, "orders", "orders of the shop", examples);
  addCommand(orders, "import <store>", "record the orders of a file", importHelp)
    .argument("<file>", fileHelp)
    .action(async (store: string, file: string, options: OutputOptions) => {
      const { changed: _, ...result } = await withStore(store, (db, config, database) =>
        withRelay(database, config, async (notify) => {
          const imported = await importOrders(db, store, file);
          for (const lsId of imported.changed) notify(store, lsId);
          return imported;
        }),
      );
      await print({ store, ...result }, linesOf(result), options);
    });
  addCommand(orders, "reconcile <store>", "compare the orders of a shop's export with the recorded ones", reconcileHelp)
    .argument("<file>", fileHelp)
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

function linesOf({
  accepted,
  duplicates,
  unpaid,
  statuses,
  different,
  differences,
  faults = [],
}: Omit<OrderImport, "changed">): string[] {
  const names = statuses.map(({ status, orders }) => `${status}: ${orders}`).join(", ");
  const notPaid = `${unpaid} were not paid${names && ` (${names})`}`;
  const recorded = `${count(accepted, "order")} recorded; ${duplicates} had been recorded before; ${notPaid}.`;
  const text = [recorded, ...faults.map(({ reason, orders }) => `${count(orders, "order")}: ${reason}`)];
  if (different === 0) return text;
  const isOrAre = different === 1 ? "differs" : "differ";
  const about = `${count(different, "order")} ${isOrAre} from the recorded state, which was kept. orders reconcile shows all:`;
  return [...text, about, ...differences.map(({ line, id, message }) => `line ${line}: ${id} ${message}`)];
}
