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
Each line of an NDJSON file holds one order: as recordOrders takes it, which is its newer state, or as the REST API of Shopify or
WooCommerce lists it, which is its state at the time of its last change, as a hook delivers it. A CSV file is the export of Shopify or
WooCommerce. It makes orders that are not known and were paid. Of an order that is known, it adds the viewer and the lines where there
are none, raises the refunds to its total of them, and takes away what is left where the order was cancelled or refunded. It changes
neither amounts nor times, and never gives back: orders that differ are counted, and the first ones are named. All of the file is
checked before anything is stored; what cannot be read is refused with its line (docs/orders.md).

Example:
  npx vitrine orders import acme orders.ndjson`;

const reconcileHelp = `
Prints orders of the file that are missing here, orders of its time that it does not have, orders that count here and were not paid or
were cancelled in the file, and other amounts. The file is checked as by orders import, and changes nothing. The exit status is 0 only
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
  addCommand(
    orders,
    "reconcile <store>",
    "compare the orders of a shop's export with those that are known",
    reconcileHelp,
  )
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
  const about = `${count(different, "order")} ${isOrAre} from what is known, which was kept. orders reconcile shows all:`;
  return [...text, about, ...differences.map(({ line, id, message }) => `line ${line}: ${id} ${message}`)];
}
