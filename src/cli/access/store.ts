import type { Command } from "commander";
import { createStore, listStores, renameStore, setCurrency } from "../../access/store.js";
import { deleteStore, describeStore, type StoreContents } from "../../access/store.delete.js";
import { count } from "../../lib/text.js";
import { confirm, type ConfirmOptions } from "../terminal/confirm.js";
import { parseName } from "../terminal/name.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { withDatabase } from "../runtime.js";

const examples = `
Examples:
  npx vitrine store create acme --name 'Acme Fashion'
  npx vitrine store list
  npx vitrine store show acme
  npx vitrine store set acme --currency EUR
  npx vitrine store rename acme 'Acme'
  npx vitrine store delete acme`;

const deleteHelp = `
Its tokens and keys are deleted first, so that nothing more is written; servers notice within 5 seconds, which the command waits for.
If it is interrupted, run it again.

Examples:
  npx vitrine store delete acme
  npx vitrine store delete acme --yes`;

export function addStoreCommands(program: Command): void {
  const store = program
    .command("store")
    .description("stores, to which everything else belongs")
    .addHelpText("after", examples);
  addCreateCommand(store);
  addListCommand(store);
  addShowCommand(store);
  addSetCommand(store);
  addRenameCommand(store);
  addDeleteCommand(store);
}

function addCreateCommand(store: Command): void {
  store
    .command("create")
    .description("create a store")
    .argument("<store>", "its id: letters, digits, dots, dashes, underscores", parseName)
    .option("--name <name>", "its name (default: the id)", parseName)
    .option("--currency <code>", "the currency of all its amounts (ISO 4217)", parseCurrency)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine store create acme --name 'Acme Fashion' --currency EUR")
    .action(async (id: string, options: OutputOptions & { name?: string; currency?: string }) => {
      const result = await withDatabase((db) => createStore(db, id, options.name ?? id, options.currency));
      await print(
        result,
        `Created store ${result.store}. Issue a token for it: npx vitrine token issue ${result.store}`,
        options,
      );
    });
}

function addListCommand(store: Command): void {
  store
    .command("list")
    .description("list all stores")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine store list")
    .action(async (options: OutputOptions) => {
      const stores = await withDatabase((db) => listStores(db));
      const lines = stores.map(
        ({ store: id, name, createdAt }) => `${id}  ${name}  created ${createdAt.toISOString()}`,
      );
      const none = "There are no stores. Create one: npx vitrine store create acme";
      await print({ stores }, lines.length === 0 ? none : lines, options);
    });
}

function addShowCommand(store: Command): void {
  store
    .command("show")
    .description("show a store and how much belongs to it")
    .argument("<store>", "its id", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine store show acme")
    .action(async (id: string, options: OutputOptions) => {
      const found = await withDatabase((db) => describeStore(db, id));
      const line = `${id}  ${found.name}  created ${found.createdAt.toISOString()}`;
      await print(found, [line, contents(found)], options);
    });
}

function parseCurrency(code: string): string {
  return code.toUpperCase();
}

function addSetCommand(store: Command): void {
  store
    .command("set")
    .description("set the currency of a store; amounts are not converted")
    .argument("<store>", "its id", parseName)
    .requiredOption("--currency <code>", "the currency of all its amounts (ISO 4217)", parseCurrency)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine store set acme --currency EUR")
    .action(async (id: string, options: OutputOptions & { currency: string }) => {
      const result = await withDatabase((db) => setCurrency(db, id, options.currency));
      await print(result, `The currency of store ${id} is now ${result.currency}.`, options);
    });
}

function addRenameCommand(store: Command): void {
  store
    .command("rename")
    .description("give a store another name; its id stays")
    .argument("<store>", "its id", parseName)
    .argument("<name>", "its new name", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine store rename acme 'Acme Fashion'")
    .action(async (id: string, name: string, options: OutputOptions) => {
      const result = await withDatabase((db) => renameStore(db, id, name));
      await print(result, `Store ${id} is now named ${name}.`, options);
    });
}

function addDeleteCommand(store: Command): void {
  store
    .command("delete")
    .description("delete a store with everything of it: products, sites, shows with their events, tokens, public keys")
    .argument("<store>", "its id", parseName)
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText("after", deleteHelp)
    .action(async (id: string, options: OutputOptions & ConfirmOptions, command: Command) => {
      const result = await withDatabase(async (db) => {
        const found = await describeStore(db, id);
        await confirm(command, `Delete store ${id} with ${contents(found)}?`, options);
        return deleteStore(db, id);
      });
      await print(result, `Store ${id} was deleted, with ${contents(result)}.`, options);
    });
}

function contents({ products, sites, liveStreams, tokens, keys }: StoreContents): string {
  const [first, ...others] = [
    count(keys, "public key"),
    count(tokens, "token"),
    count(liveStreams, "live stream"),
    count(sites, "site"),
    count(products, "product"),
  ];
  return `${others.toReversed().join(", ")} and ${first}`;
}
