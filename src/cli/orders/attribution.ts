import { InvalidArgumentError, Option, type Command } from "commander";
import { attributionRules, type AttributionRule } from "../../analytics/orders/attribution/codes.js";
import { windowName } from "../../analytics/orders/attribution/because.js";
import { type AttributionChange, previewAttribution } from "../../analytics/orders/attribution/preview.js";
import { setAttribution } from "../../analytics/orders/attribution/recount.js";
import { parseWindow } from "../../analytics/orders/attribution/settings.js";
import { createViewerIndex } from "../../database/migrations/viewerIndex.js";
import { count } from "../../lib/text.js";
import { withRelay, withStore } from "../runtime.js";
import { addCommand, addGroup } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { table } from "../terminal/table.js";

const help = `
AS_SENT counts an order for the show that its sender names, LAST_SHOW for the last show that its viewer watched, CART each line for
the last show in which its viewer put that product into the cart (docs/orders.md). All orders are counted anew, while figures can be
read; if the command is interrupted, a running server goes on.

Examples:
  npx vitrine attribution set acme --rule LAST_SHOW --window 7d --dry-run
  npx vitrine attribution set acme --rule LAST_SHOW --window 7d`;

interface Options extends OutputOptions {
  readonly rule: AttributionRule;
  readonly window: number;
  readonly dryRun?: boolean;
}

export function addAttributionCommands(program: Command): void {
  const attribution = addGroup(program, "attribution", "which show an order counts for", help);
  addCommand(attribution, "set <store>", "set the rule, and count all orders anew by it", help)
    .addOption(new Option("--rule <rule>", "the rule").choices(attributionRules).makeOptionMandatory())
    .addOption(
      new Option("--window <time>", "how long before an order something counts: 7d, 36h")
        .argParser(parse)
        .default(168, "7d"),
    )
    .option("--dry-run", "show what would change, show by show, and change nothing")
    .action((store: string, options: Options) => (options.dryRun === true ? preview : change)(store, options));
}

async function preview(store: string, options: Options): Promise<void> {
  const { rule, window: windowHours } = options;
  const found = await withIndex(store, rule, (db) => previewAttribution(db, store, { rule, windowHours }));
  const rows = found.changes.map(({ show, before, after }: AttributionChange) => [
    show === null ? "(no show)" : show.id,
    ...[before.orders, after.orders, before.sales, after.sales].map(String),
  ]);
  const header = ["show", "orders now", "then", "sales now", "then"];
  const text = rows.length === 0 ? ["Nothing would change."] : table(header, rows);
  await print({ store, rule, windowHours, ...found }, text, options);
}

async function change(store: string, options: Options): Promise<void> {
  const { rule, window: windowHours } = options;
  const { orders, changed } = await withIndex(store, rule, (db, config, database) =>
    withRelay(database, config, async (notify) => {
      const result = await setAttribution(db, store, { rule, windowHours });
      for (const lsId of result.changed) notify(store, lsId);
      return result;
    }),
  );
  const within = rule === "AS_SENT" ? "" : ` within ${windowName(windowHours)}`;
  const text = `Orders of ${store} count by ${rule}${within} now: ${count(orders, "order")}; ${count(changed.length, "live stream")} changed.`;
  await print({ store, rule, windowHours, orders, changed }, text, options);
}

/** As withStore, with the index by which events of a viewer are found, where the rule needs it. */
function withIndex<Result>(
  store: string,
  rule: AttributionRule,
  work: (...open: Parameters<Parameters<typeof withStore>[1]>) => Promise<Result>,
): Promise<Result> {
  return withStore(store, async (...open) => {
    if (rule !== "AS_SENT") await createViewerIndex(open[2]);
    return work(...open);
  });
}

function parse(text: string): number {
  const hours = parseWindow(text);
  if (hours !== undefined) return hours;
  throw new InvalidArgumentError("It must be 1 to 2160 hours, or 1 to 90 days: 7d, 36h.");
}
