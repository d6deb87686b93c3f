import { InvalidArgumentError, Option, type Command } from "commander";
import { type Attribution, attributionRules, parseWindow } from "../../orders/attribution/settings.js";
import type { AttributionRule } from "../../database/codes.js";
import { windowName } from "../../orders/attribution/reasonText.js";
import { type AttributionChange, previewAttribution } from "../../orders/attribution/preview.js";
import { attributionState, setAttribution } from "../../orders/attribution/recount.js";
import { createViewerIndex } from "../../database/migrations/viewerIndex.js";
import { count } from "../../lib/text.js";
import { withStore } from "../runtime.js";
import { addCommand, addGroup } from "../terminal/command.js";
import { type OutputOptions, print, table } from "../terminal/output.js";

const help = `
AS_SENT attributes an order to the show that its sender names, LAST_SHOW to the last show that its viewer watched, CART each line to
the last show in which its viewer put that product into the cart (docs/attribution.md). The command only stores the rule: a running server
then attributes all orders again, the latest first. Figures can be read during that time.

Examples:
  npx vitrine attribution set acme --rule LAST_SHOW --window 7d --dry-run
  npx vitrine attribution set acme --rule LAST_SHOW --window 7d
  npx vitrine attribution show acme`;

interface Options extends OutputOptions {
  readonly rule: AttributionRule;
  readonly window: number;
  readonly dryRun?: boolean;
}

export function addAttributionCommands(program: Command): void {
  const attribution = addGroup(program, "attribution", "which show an order counts for", help);
  addCommand(attribution, "set <store>", "set the rule, and have all orders attributed again", help)
    .addOption(new Option("--rule <rule>", "the rule").choices(attributionRules).makeOptionMandatory())
    .addOption(
      new Option("--window <time>", "how long before an order shows count: 7d, 36h")
        .argParser(parse)
        .default(168, "7d"),
    )
    .option("--dry-run", "print what would change for each show, and change nothing")
    .action((store: string, options: Options) => (options.dryRun === true ? preview : change)(store, options));
  addCommand(
    attribution,
    "show <store>",
    "print the rule, and how many orders are attributed by it so far",
    help,
  ).action(showRule);
}

async function preview(store: string, options: Options): Promise<void> {
  const { rule, window: windowHours } = options;
  const found = await withIndex(store, rule, (db) => previewAttribution(db, store, { rule, windowHours }));
  const rows = found.changes.map(({ show, before, after }: AttributionChange) => [
    show === null ? "(no show)" : show.id,
    ...[before.orders, after.orders, before.sales, after.sales].map(String),
  ]);
  const header = ["show", "orders now", "then", "sales now", "then"];
  const latest =
    found.previewed < found.orders ? [`Of the latest ${found.previewed} of ${count(found.orders, "order")}:`] : [];
  const text = [...latest, ...(rows.length === 0 ? ["Nothing would change."] : table(header, rows))];
  await print({ store, rule, windowHours, ...found }, text, options);
}

async function change(store: string, options: Options): Promise<void> {
  const { rule, window: windowHours } = options;
  const due = await withIndex(store, rule, (db) => setAttribution(db, store, { rule, windowHours }));
  const rest = `A running server now attributes ${count(due, "order")} again, the latest first.`;
  const text = [
    `Orders of ${store} are now attributed by ${ruleName({ rule, windowHours })}.`,
    ...(due === 0 ? [] : [rest]),
  ];
  await print({ store, rule, windowHours, due }, text, options);
}

async function showRule(store: string, options: OutputOptions): Promise<void> {
  const { rule, windowHours, recount } = await withStore(store, (db) => attributionState(db, store));
  const progress =
    recount === null ? "" : ` ${recount.done} of ${count(recount.orders, "order")} have been attributed again.`;
  const text = `Orders of ${store} are attributed by ${ruleName({ rule, windowHours })}.${progress}`;
  await print({ store, rule, windowHours, recount }, text, options);
}

function ruleName({ rule, windowHours }: Attribution): string {
  return rule === "AS_SENT" ? rule : `${rule} within ${windowName(windowHours)}`;
}

/** Like withStore. If the rule looks up events by viewer, first creates their index. */
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
