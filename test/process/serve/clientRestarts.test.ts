// @tier long
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { examplesOf } from "../../support/docs.js";
import { migratedPlaceForTest, serve, type Serving } from "../../support/process.js";
import { until } from "../../support/until.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const token = "a-demo-token-of-my-own";

interface Client {
  readonly name: string;
  readonly process: ChildProcess;
  /** Values of the subscription so far. */
  values(): number;
  printed(): string;
}

/** The recipes of docs/clients.md and docs/other-clients.md that subscribe, as programs that do not end. */
async function startRecipes(url: string): Promise<Client[]> {
  const folder = await mkdtemp(join(tmpdir(), "vt-clients-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const pages = ["docs/clients.md", "docs/other-clients.md"].map((page) => readFile(join(root, page), "utf8"));
  const examples = (await Promise.all(pages)).flatMap(examplesOf);
  const recipes = examples.filter(({ block }) => block.text.includes("process.env.VALUES"));
  const names = ["apollo", "graphql-sse", "urql"];
  expect(recipes).toHaveLength(names.length);
  return Promise.all(
    recipes.map(async ({ block }, index): Promise<Client> => {
      const name = names[index] ?? "";
      const file = join(folder, `${name}.mjs`);
      await writeFile(file, block.text.replaceAll("http://127.0.0.1:4000", url));
      const child = spawn(process.execPath, [file], { env: { TOKEN: token, VALUES: "1000000" }, cwd: folder });
      onTestFinished(() => void child.kill("SIGKILL"));
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
      }
      const values = () => printed.match(/^Autumn looks true/gmu)?.length ?? 0;
      return { name, process: child, values, printed: () => printed };
    }),
  );
}

/** @returns how many of them still run, which is all unless one gave up */
async function untilNewValues(clients: readonly Client[]): Promise<number> {
  const before = clients.map((client) => client.values());
  await until(
    () => clients.every((client, index) => client.values() > (before[index] ?? 0) || client.process.exitCode !== null),
    `new values: ${clients.map(({ name }) => name).join(", ")}`,
    40_000, // each tries again less and less often
  );
  const ended = clients.filter((client) => client.process.exitCode !== null);
  for (const client of ended) process.stderr.write(`${client.name} ended: ${client.printed()}\n`);
  return clients.length - ended.length;
}

test("the recipes for clients open their streams again after a restart, and after a kill", async () => {
  const place = await migratedPlaceForTest();
  const env = { ...place.env, DEMO_TOKEN: token };
  let server: Serving = await serve(env);
  onTestFinished(() => server.stop("SIGKILL").then(() => undefined));
  const port = new URL(server.url).port;
  const clients = await startRecipes(server.url);
  expect(await untilNewValues(clients)).toBe(clients.length);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await server.stop(signal);
    server = await serve({ ...env, PORT: port });
    expect(await untilNewValues(clients), signal).toBe(clients.length);
  }
});
