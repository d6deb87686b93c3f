import { type Command, InvalidArgumentError, Option } from "commander";
import { type Revocation, revokeToken, rotateToken, undoRotation } from "../../stores/token.replace.js";
import { type Scope, scopes as allScopes } from "../../schema/scopes.js";
import { type IssuedToken, issueToken, listTokens, type TokenSummary } from "../../stores/token.js";
import { withDatabase } from "../runtime.js";
import { addCommand, addGroup, parseDuration, parseFuture, parseName } from "../terminal/command.js";
import { type OutputOptions, print, printSecret, requireOutput } from "../terminal/output.js";

const graceByDefaultMs = 24 * 3_600_000;

const examples = `
Examples:
  npx vitrine token issue acme --label shop-sync
  npx vitrine token issue acme --scope analytics:read --scope catalog:read
  npx vitrine token list acme
  npx vitrine token rotate acme 5f0c1f4e-… --grace 1h
  npx vitrine token revoke acme 5f0c1f4e-…`;

export function addTokenCommands(program: Command): void {
  const token = addGroup(program, "token", "access tokens of a store", examples);
  addIssueCommand(token);
  addCommand(token, "list <store>", "list the tokens of a store, without their secrets", "token list acme").action(
    async (store: string, options: OutputOptions) => {
      const tokens = await withDatabase((db) => listTokens(db, store));
      const none = `Store ${store} has no tokens.`;
      await print({ store, tokens }, tokens.length === 0 ? none : tokens.map(line), options);
    },
  );
  addRotateCommand(token);
  const revoking = "revoke a token; it stops working within 5 seconds";
  addCommand(token, "revoke <store>", revoking, "token revoke acme 5f0c1f4e-…")
    .argument("<id>", "of the token, as token list shows it", parseName)
    .action(async (store: string, id: string, options: OutputOptions) => {
      const revocation = await withDatabase((db) => revokeToken(db, store, id));
      await print({ id, store, ...revocation }, `Token ${id} is revoked.${aboutSuccessors(revocation)}`, options);
    });
}

interface IssueOptions {
  readonly label?: string;
  readonly scope?: Scope[];
  readonly expires?: Date;
}

const issueHelp = `
Scopes:
  catalog:read    read and export products
  catalog:write   import and delete products
  shows:write     save and delete shows
  events:write    record what shoppers do
  analytics:read  read shows and their figures, the dashboard

Examples:
  npx vitrine token issue acme --label shop-sync --expires 2030-01-31T00:00:00Z
  npx vitrine token issue acme --label dashboard --scope analytics:read --scope catalog:read`;

const scopeOption = new Option(
  "--scope <scope>",
  "what it allows; repeat it for several (default: everything)",
).argParser((text: string, before?: Scope[]): Scope[] => {
  const scope = allScopes.find((known) => known === text);
  if (scope === undefined) throw new InvalidArgumentError(`It must be one of ${allScopes.join(", ")}.`);
  return [...(before ?? []), scope];
});

function addIssueCommand(token: Command): void {
  addCommand(token, "issue <store>", "issue a token; its secret is shown once", issueHelp)
    .option("--label <label>", "what it is for", parseName)
    .addOption(scopeOption)
    .option("--expires <time>", "when it stops working, ISO 8601", parseFuture)
    .action(async (store: string, options: OutputOptions & IssueOptions) => {
      const { label, scope: scopes, expires: expiresAt } = options;
      requireOutput();
      await withDatabase(async (db) => {
        const issued = await issueToken(db, store, { label, scopes, expiresAt });
        await printSecret(issued, secretOnce(issued), options, () => revokeToken(db, store, issued.id));
      });
    });
}

function addRotateCommand(token: Command): void {
  const rotating = "replace a token; the old one keeps working for a while";
  const byDefault = "when the old one would have";
  addCommand(token, "rotate <store>", rotating, "token rotate acme 5f0c1f4e-… --grace 1h")
    .argument("<id>", "the token to replace", parseName)
    .option("--grace <duration>", "how long the old one still works (default: 24h)", parseDuration)
    .option("--expires <time>", `when the new one stops working, ISO 8601 (default: ${byDefault})`, parseFuture)
    .action(async (store: string, id: string, options: OutputOptions & { grace?: number; expires?: Date }) => {
      const { grace: graceMs = graceByDefaultMs, expires: expiresAt } = options;
      requireOutput();
      await withDatabase(async (db) => {
        const rotation = await rotateToken(db, store, id, { graceMs, expiresAt });
        const { issued } = rotation;
        await printSecret(issued, secretOnce(issued), options, () => undoRotation(db, rotation));
      });
    });
}

function aboutSuccessors({ replacedBy, alsoRevoked }: Revocation): string {
  if (alsoRevoked.length > 0) return ` It was being replaced: token ${alsoRevoked.join(", ")} is revoked, too.`;
  return replacedBy === null ? "" : ` Token ${replacedBy}, which replaced it, still works.`;
}

function secretOnce({ id, token, scopes, expiresAt }: IssuedToken): string[] {
  const about = `(token ${id}, ${scopes.join(" ")}, ${expiry(expiresAt)}; the secret is not stored and cannot be shown again)`;
  return [token, about];
}

function expiry(expiresAt: Date | null): string {
  return expiresAt === null ? "does not expire" : `expires ${expiresAt.toISOString()}`;
}

function line({ id, label, scopes, createdAt, expiresAt, revokedAt, replacedBy }: TokenSummary): string {
  const state = revokedAt === null ? expiry(expiresAt) : `revoked ${revokedAt.toISOString()}`;
  const successor = replacedBy === null ? [] : [`replaced by ${replacedBy}`];
  return [id, label ?? "(no label)", scopes.join(" "), `issued ${createdAt.toISOString()}`, state, ...successor].join(
    "  ",
  );
}
