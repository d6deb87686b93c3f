import type { Command } from "commander";
import {
  createStore,
  listStores,
  renameStore,
  setStore,
  type StoreSettings,
  type StoreSummary,
} from "../../stores/store.js";
import { deleteStore, describeStore, type StoreContents } from "../../stores/store.delete.js";
import { count } from "../../lib/text.js";
import { withDatabase } from "../runtime.js";
import { addCommand, addGroup, confirm, type ConfirmOptions, parseName } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";

const examples = `
Examples:
  npx vitrine store create acme --name 'Acme Fashion'
  npx vitrine store list
  npx vitrine store show acme
  npx vitrine store set acme --currency EUR --time-zone Europe/Berlin
  npx vitrine store rename acme 'Acme'
  npx vitrine store delete acme`;

const deleteHelp = `
The command first deletes the tokens and keys, so that nothing is written any more, and waits 5 seconds until all servers know this.
If it is interrupted, run it again.

Examples:
  npx vitrine store delete acme
  npx vitrine store delete acme --yes`;

export function addStoreCommands(program: Command): void {
  const store = addGroup(program, "store", "stores, to which everything else belongs", examples);
  addCreateCommand(store);
  addCommand(store, "list", "list all stores", "store list").action(async (options: OutputOptions) => {
    const stores = await withDatabase((db) => listStores(db));
    const none = "There are no stores. Create one: npx vitrine store create acme";
    await print({ stores }, stores.length === 0 ? none : stores.map(line), options);
  });
  addCommand(store, "show <store>", "show a store and how much belongs to it", "store show acme").action(
    async (id: string, options: OutputOptions) => {
      const found = await withDatabase((db) => describeStore(db, id));
      await print(found, [line(found), contents(found)], options);
    },
  );
  addChangeCommands(store);
  addCommand(
    store,
    "delete <store>",
    "delete a store with everything in it: products, sites, shows with their events, tokens, public keys",
    deleteHelp,
  )
    .option("--yes", "do not ask")
    .action(deleteAfterAsking);
}

function addCreateCommand(store: Command): void {
  const example = "store create acme --name 'Acme Fashion' --currency EUR --time-zone Europe/Berlin";
  withSettings(addCommand(store, "create", "create a store", example))
    .argument("<store>", "its id: letters, digits, dots, dashes, underscores", parseName)
    .option("--name <name>", "its name (default: the id)", parseName)
    .action(async (id: string, options: OutputOptions & StoreSettings & { name?: string }) => {
      const result = await withDatabase((db) => createStore(db, id, options.name ?? id, options));
      const text = `Created store ${result.store}. Issue a token for it: npx vitrine token issue ${result.store}`;
      await print(result, text, options);
    });
}

function addChangeCommands(store: Command): void {
  const setting = "set the currency of a store (amounts are not converted) or its time zone";
  withSettings(addCommand(store, "set <store>", setting, "store set acme --time-zone Europe/Berlin")).action(
    async (id: string, options: OutputOptions & StoreSettings, command: Command) => {
      if (options.currency === undefined && options.timeZone === undefined) {
        command.error("Give --currency, --time-zone, or both");
      }
      const result = await withDatabase((db) => setStore(db, id, options));
      const lines = [
        ...(result.currency === undefined ? [] : [`The currency of store ${id} is now ${result.currency}.`]),
        ...(result.timeZone === undefined ? [] : [`The time zone of store ${id} is now ${result.timeZone}.`]),
      ];
      await print(result, lines, options);
    },
  );
  const renaming = "give a store another name; its id stays";
  addCommand(store, "rename <store>", renaming, "store rename acme 'Acme Fashion'")
    .argument("<name>", "its new name", parseName)
    .action(async (id: string, name: string, options: OutputOptions) => {
      const result = await withDatabase((db) => renameStore(db, id, name));
      await print(result, `Store ${id} is now named ${name}.`, options);
    });
}

function withSettings(command: Command): Command {
  return command
    .option("--currency <code>", "the currency of all its amounts (ISO 4217)", parseCurrency)
    .option("--time-zone <name>", "the time zone of its days (IANA), such as Europe/Berlin");
}

async function deleteAfterAsking(id: string, options: OutputOptions & ConfirmOptions, command: Command) {
  const result = await withDatabase(async (db) => {
    const found = await describeStore(db, id);
    await confirm(command, `Delete store ${id} with ${contents(found)}?`, options);
    return deleteStore(db, id);
  });
  await print(result, `Store ${id} was deleted, with ${contents(result)}.`, options);
}

function parseCurrency(code: string): string {
  return code.toUpperCase();
}

function line({ store, name, createdAt }: StoreSummary): string {
  return `${store}  ${name}  created ${createdAt.toISOString()}`;
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
