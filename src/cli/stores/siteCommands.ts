import type { Command } from "commander";
import { addSite, countAssignedProducts, listSites, removeSite } from "../../stores/site.js";
import { count } from "../../lib/text.js";
import { withDatabase } from "../runtime.js";
import { addCommand, addGroup, confirm, type ConfirmOptions, parseName } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";

const examples = `
Examples:
  npx vitrine site add acme acme-de --type SHOPIFY
  npx vitrine site list acme
  npx vitrine site remove acme acme-de`;

const removeHelp = `
Products without another site are then sold on all sites of the store.

Examples:
  npx vitrine site remove acme acme-de
  npx vitrine site remove acme acme-de --yes`;

export function addSiteCommands(program: Command): void {
  const site = addGroup(program, "site", "sites on which a store sells", examples);
  addCommand(site, "add <store> <site>", "add a site to a store", "site add acme acme-de --type SHOPIFY")
    .requiredOption("--type <type>", "its type, as callers name it in siteType", parseName)
    .action(async (store: string, id: string, options: OutputOptions & { type: string }) => {
      const result = await withDatabase((db) => addSite(db, store, id, options.type));
      await print(result, `Added site ${result.site} of type ${result.type} to store ${result.store}.`, options);
    });
  addCommand(site, "list <store>", "list the sites of a store", "site list acme").action(
    async (store: string, options: OutputOptions) => {
      const sites = await withDatabase((db) => listSites(db, store));
      const lines = sites.map(({ site: id, type }) => `${id}  ${type}`);
      await print({ store, sites }, lines.length === 0 ? `Store ${store} has no sites.` : lines, options);
    },
  );
  addCommand(site, "remove <store> <site>", "remove a site from a store; its products stay", removeHelp)
    .option("--yes", "do not ask")
    .action(removeAfterAsking);
}

async function removeAfterAsking(store: string, id: string, options: OutputOptions & ConfirmOptions, command: Command) {
  const result = await withDatabase(async (db) => {
    const products = count(await countAssignedProducts(db, store, id), "product is", "products are");
    await confirm(command, `Remove site ${id} of store ${store}, to which ${products} assigned?`, options);
    return removeSite(db, store, id);
  });
  const products = count(result.products, "product was", "products were");
  await print(result, `Removed site ${id} of store ${store}; ${products} assigned to it.`, options);
}
