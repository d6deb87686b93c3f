import type { Command } from "commander";
import { issueKey, type KeySummary, listKeys, revokeKey } from "../../stores/publicKey.js";
import { withDatabase } from "../runtime.js";
import { addCommand, addGroup, parseName } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";

const examples = `
Examples:
  npx vitrine key issue acme --origin https://shop.example --origin 'https://*.shop.example'
  npx vitrine key list acme
  npx vitrine key revoke acme 5f0c1f4e-…`;

const issueHelp = `
A key is not a secret: the shop's pages contain it. It only allows reporting what shoppers do, from pages of its origins.

Example:
  npx vitrine key issue acme --origin https://shop.example --label shop`;

export function addKeyCommands(program: Command): void {
  const key = addGroup(program, "key", "public keys for pages of a store", examples);
  addCommand(key, "issue <store>", "issue a key for pages of a store", issueHelp)
    .requiredOption(
      "--origin <origin>",
      "of pages that may use it, https://shop.example or https://*.shop.example; repeat it for several",
      (origin: string, before?: readonly string[]) => [...(before ?? []), origin],
    )
    .option("--sandboxed", "sandboxed pages may use it too, such as custom pixels: browsers send null as their origin")
    .option("--label <label>", "what it is for", parseName)
    .action(
      async (store: string, options: OutputOptions & { origin: string[]; sandboxed?: boolean; label?: string }) => {
        const { origin: origins, sandboxed: isSandboxed, label } = options;
        const issued = await withDatabase((db) => issueKey(db, store, { origins, isSandboxed, label }));
        const about = `(key ${issued.id}, for pages of ${issued.origins.join(" ")})`;
        await print(issued, [issued.key, about], options);
      },
    );
  addCommand(key, "list <store>", "list the public keys of a store", "key list acme").action(
    async (store: string, options: OutputOptions) => {
      const keys = await withDatabase((db) => listKeys(db, store));
      const none = `Store ${store} has no public keys.`;
      await print({ store, keys }, keys.length === 0 ? none : keys.map(line), options);
    },
  );
  addCommand(key, "revoke <store>", "revoke a key; it stops working within 5 seconds", "key revoke acme 5f0c1f4e-…")
    .argument("<id>", "of the key, as key list shows it", parseName)
    .action(async (store: string, id: string, options: OutputOptions) => {
      const revocation = await withDatabase((db) => revokeKey(db, store, id));
      await print({ id, store, ...revocation }, `Key ${id} is revoked.`, options);
    });
}

function line({ id, key, label, origins, createdAt, revokedAt }: KeySummary): string {
  const state = revokedAt === null ? [] : [`revoked ${revokedAt.toISOString()}`];
  const issued = `issued ${createdAt.toISOString()}`;
  return [id, key, label ?? "(no label)", origins.join(" "), issued, ...state].join("  ");
}
