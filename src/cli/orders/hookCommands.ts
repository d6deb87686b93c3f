import { text as textOfStream } from "node:stream/consumers";
import { Option, type Command } from "commander";
import { addHook, type HookSummary, listHooks, removeHook, shopSystems } from "../../orders/hooks/hook.js";
import type { Config } from "../../config.js";
import { withDatabase } from "../runtime.js";
import { addCommand, addGroup, parseName } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";

const examples = `
Examples:
  npx vitrine hook add acme --from woocommerce
  npx vitrine hook add acme --from shopify --secret - < secret.txt
  npx vitrine hook list acme
  npx vitrine hook remove acme 5f0c1f4e-…`;

const addHelp = `
Enter the printed address as the URL of the shop system's webhooks, with the host name under which it reaches this service. Shopify has
its own signing secret: copy it from Shopify's webhook page, and pass it with --secret. For WooCommerce, enter the printed secret.

Example:
  npx vitrine hook add acme --from woocommerce`;

export function addHookCommands(program: Command): void {
  const hook = addGroup(program, "hook", "addresses to which shop systems deliver orders", examples);
  addCommand(hook, "add <store>", "add an address for a shop system", addHelp)
    .addOption(new Option("--from <system>", "which one").choices(shopSystems).makeOptionMandatory())
    .option(
      "--secret <secret>",
      "with which it signs deliveries, or - to read it from standard input (default: a new one)",
    )
    .action(async (store: string, options: OutputOptions & { from: string; secret?: string }) => {
      const { from } = options;
      const secret = options.secret === "-" ? (await textOfStream(process.stdin)).trim() : options.secret;
      const { id, url, made } = await withDatabase(async (db, config) => {
        const added = await addHook(db, store, { from, secret });
        return { id: added.id, url: urlOf(config, added.path), made: added.secret };
      });
      const result = { id, url, store, from, ...(secret === undefined && { secret: made }) };
      const about = secret === undefined ? [`Secret: ${made}`] : [];
      await print(result, [url, ...about, `(hook ${id}, for deliveries of ${from})`], options);
    });
  addCommand(
    hook,
    "list <store>",
    "list the hooks of a store, and why deliveries could not be used",
    "hook list acme",
  ).action(async (store: string, options: OutputOptions) => {
    const hooks = await withDatabase(async (db, config) =>
      (await listHooks(db, store)).map(({ path, ...found }) => ({ ...found, url: urlOf(config, path) })),
    );
    const none = `Store ${store} has no hooks.`;
    await print({ store, hooks }, hooks.length === 0 ? none : hooks.flatMap(lines), options);
  });
  addCommand(hook, "remove <store>", "remove a hook; it stops working within 5 seconds", "hook remove acme 5f0c1f4e-…")
    .argument("<id>", "of the hook, as hook list shows it", parseName)
    .action(async (store: string, id: string, options: OutputOptions) => {
      await withDatabase((db) => removeHook(db, store, id));
      await print({ id, store }, `Hook ${id} is removed.`, options);
    });
}

/** The URL on this machine. The shop system needs a host name that it can reach. */
function urlOf({ port, basePath = "" }: Config, path: string): string {
  return `http://localhost:${port}${basePath}${path}`;
}

function lines({ id, url, from, createdAt, faults }: Omit<HookSummary, "path"> & { readonly url: string }): string[] {
  const reasons = faults.map(
    ({ reason, count, lastAt }) => `  ${count} times, last ${lastAt.toISOString()}: ${reason}`,
  );
  const advice =
    reasons.length === 0
      ? []
      : ["  Orders that are missing can be recorded from the shop's export: npx vitrine orders import."];
  return [`${id}  ${from}  ${url}  added ${createdAt.toISOString()}`, ...reasons, ...advice];
}
