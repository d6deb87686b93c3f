import { type Command, InvalidArgumentError, Option } from "commander";
import { type Revocation, revokeToken, rotateToken, undoRotation } from "../../access/token.replace.js";
import { type Scope, scopes as allScopes } from "../../access/scopes.js";
import { type IssuedToken, issueToken, listTokens, type TokenSummary } from "../../access/token.js";
import { parseDuration, parseFuture } from "../terminal/duration.js";
import { parseName } from "../terminal/name.js";
import { type OutputOptions, print, printSecret, requireOutput } from "../terminal/output.js";
import { withDatabase } from "../runtime.js";

const graceByDefaultMs = 24 * 3_600_000;

const examples = `
Examples:
  npx vitrine token issue acme --label shop-sync
  npx vitrine token issue acme --scope analytics:read --scope catalog:read
  npx vitrine token list acme
  npx vitrine token rotate acme 5f0c1f4e-… --grace 1h
  npx vitrine token revoke acme 5f0c1f4e-…`;

export function addTokenCommands(program: Command): void {
  const token = program.command("token").description("access tokens of a store").addHelpText("after", examples);
  addIssueCommand(token);
  addListCommand(token);
  addRotateCommand(token);
  addRevokeCommand(token);
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
  token
    .command("issue")
    .description("issue a token; its secret is shown once")
    .argument("<store>", "its id", parseName)
    .option("--label <label>", "what it is for", parseName)
    .addOption(scopeOption)
    .option("--expires <time>", "when it stops working, ISO 8601", parseFuture)
    .option("--json", "print one JSON object")
    .addHelpText("after", issueHelp)
    .action(async (store: string, options: OutputOptions & IssueOptions) => {
      const { label, scope: scopes, expires: expiresAt } = options;
      requireOutput();
      await withDatabase(async (db) => {
        const issued = await issueToken(db, store, { label, scopes, expiresAt });
        await printSecret(issued, secretOnce(issued), options, () => revokeToken(db, store, issued.id));
      });
    });
}

function addListCommand(token: Command): void {
  token
    .command("list")
    .description("list the tokens of a store, without their secrets")
    .argument("<store>", "its id", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine token list acme")
    .action(async (store: string, options: OutputOptions) => {
      const tokens = await withDatabase((db) => listTokens(db, store));
      await print({ store, tokens }, tokens.length === 0 ? `Store ${store} has no tokens.` : tokens.map(line), options);
    });
}

function addRotateCommand(token: Command): void {
  token
    .command("rotate")
    .description("replace a token; the old one keeps working for a while")
    .argument("<store>", "its id", parseName)
    .argument("<id>", "the token to replace", parseName)
    .option("--grace <duration>", "how long the old one still works (default: 24h)", parseDuration)
    .option(
      "--expires <time>",
      "when the new one stops working, ISO 8601 (default: when the old one would have)",
      parseFuture,
    )
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine token rotate acme 5f0c1f4e-… --grace 1h")
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

function addRevokeCommand(token: Command): void {
  token
    .command("revoke")
    .description("revoke a token; it stops working within 5 seconds")
    .argument("<store>", "its id", parseName)
    .argument("<id>", "of the token, as token list shows it", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine token revoke acme 5f0c1f4e-…")
    .action(async (store: string, id: string, options: OutputOptions) => {
      const revocation = await withDatabase((db) => revokeToken(db, store, id));
      await print({ id, store, ...revocation }, `Token ${id} is revoked.${aboutSuccessors(revocation)}`, options);
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
