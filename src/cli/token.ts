import type { Command } from "commander";
import {
  type IssuedToken,
  issueToken,
  listTokens,
  revokeToken,
  rotateToken,
  type TokenSummary,
} from "../access/token.js";
import { parseDuration, parseFuture } from "./duration.js";
import { type OutputOptions, print, withDatabase } from "./runtime.js";

const graceByDefaultMs = 24 * 3_600_000;

/** `vitrine token …` */
export function addTokenCommands(program: Command): void {
  const token = program.command("token").description("access tokens of a store");

  token
    .command("issue")
    .description("issue a token; its secret is shown once")
    .argument("<store>", "its id")
    .option("--label <label>", "what it is for")
    .option("--expires <time>", "when it stops working, ISO 8601", parseFuture)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine token issue acme --label shop-sync --expires 2030-01-31T00:00:00Z")
    .action(async (store: string, options: OutputOptions & { label?: string; expires?: Date }) => {
      const { label, expires: expiresAt } = options;
      const issued = await withDatabase((db) => issueToken(db, store, { label, expiresAt }));
      print(issued, secretOnce(issued), options);
    });

  token
    .command("list")
    .description("list the tokens of a store, without their secrets")
    .argument("<store>", "its id")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine token list acme")
    .action(async (store: string, options: OutputOptions) => {
      const tokens = await withDatabase((db) => listTokens(db, store));
      print(
        { store, tokens },
        tokens.length === 0 ? `Store ${store} has no tokens.` : tokens.map(line).join("\n"),
        options,
      );
    });

  token
    .command("rotate")
    .description("issue a token in place of another, which goes on working for a while")
    .argument("<store>", "its id")
    .argument("<id>", "the token to replace")
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
      const issued = await withDatabase((db) => rotateToken(db, store, id, { graceMs, expiresAt }));
      print(issued, secretOnce(issued), options);
    });

  token
    .command("revoke")
    .description("end a token; servers notice within 5 seconds")
    .argument("<store>", "its id")
    .argument("<id>", "of the token, as token list shows it")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine token revoke acme 5f0c1f4e-…")
    .action(async (store: string, id: string, options: OutputOptions) => {
      const { revokedAt } = await withDatabase((db) => revokeToken(db, store, id));
      print({ id, store, revokedAt }, `Token ${id} is revoked.`, options);
    });
}

function secretOnce({ id, token, expiresAt }: IssuedToken): string {
  return `${token}\n(token ${id}, ${expiry(expiresAt)}; the secret is not stored and cannot be shown again)`;
}

function expiry(expiresAt: Date | null): string {
  return expiresAt === null ? "does not expire" : `expires ${expiresAt.toISOString()}`;
}

function line({ id, label, createdAt, expiresAt, revokedAt }: TokenSummary): string {
  const state = revokedAt === null ? expiry(expiresAt) : `revoked ${revokedAt.toISOString()}`;
  return [id, label ?? "(no label)", `issued ${createdAt.toISOString()}`, state].join("  ");
}
