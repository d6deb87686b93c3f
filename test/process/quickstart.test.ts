// @tier all
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished, test } from "vitest";
import { type Example, examplesOf, expectAsShown, runShell } from "../support/docs.js";
import { onServer } from "../support/database/postgresql.js";
import { serve } from "../support/process.js";
import { needed } from "../support/run/programs.js";
import { programInShell } from "../support/process/shell.js";

const testDatabaseUrl = needed("TEST_DATABASE_URL");
const page = fileURLToPath(new URL("../../docs/quickstart.md", import.meta.url));

/** Runs examples in one shell, as in one terminal, and gives what each prints. */
async function inOneTerminal(
  examples: readonly Example[],
  env: Readonly<Record<string, string>>,
  folder: string,
): Promise<string[]> {
  const npx = `npx() { [ "$1" = vitrine ] && shift && ${programInShell} "$@"; }`;
  const next = "----- next example -----";
  const script = examples.map(({ block }) => block.text).join(`\necho; echo '${next}'\n`);
  return (await runShell(`${npx}\n${script}`, env, folder)).split(next);
}

test("the commands of the quick start on PostgreSQL give the results that it shows", async () => {
  const name = `vitrine_quickstart_${process.pid}`;
  const folder = await mkdtemp(join(tmpdir(), "vt-quickstart-"));
  onTestFinished(async () => {
    await rm(folder, { recursive: true, force: true });
    await onServer(testDatabaseUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await onServer(testDatabaseUrl, `DROP ROLE IF EXISTS ${name}`);
  });
  const { host } = new URL(testDatabaseUrl);
  const markdown = (await readFile(page, "utf8")).replaceAll("vitrine_shop", name).replaceAll("127.0.0.1:5432", host);
  const examples = examplesOf(markdown).filter(({ block }) => !block.text.startsWith("npm ci"));
  const atServe = examples.findIndex(({ block }) => block.text.includes("main.js serve"));
  const [, DATABASE_URL = ""] = /DATABASE_URL='(.+)'/u.exec(examples[atServe]?.block.text ?? "") ?? [];
  const env = { PATH: process.env["PATH"] ?? "", ADMIN_URL: testDatabaseUrl, PORT: "0", DATABASE_URL };

  await inOneTerminal(examples.slice(0, atServe), env, folder);
  const server = await serve({ DATABASE_URL, NODE_ENV: "production" });
  onTestFinished(async () => void (await server.stop()));

  const after = examplesOf(markdown.replaceAll("http://127.0.0.1:4000", server.url)).slice(atServe + 2);
  const printed = await inOneTerminal(after, env, folder);
  for (const [index, example] of after.entries()) expectAsShown(example, printed[index] ?? "", page);
});
