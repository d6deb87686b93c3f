// @tier all
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, test } from "vitest";
import { findHolder } from "../../src/database/embedded/folder.js";
import { embeddedConnection } from "../../src/database/open.js";
import { startCommandServer } from "../support/process/commandServer.js";
import { type Example, examplesOf, expectAsShown, runShell } from "../support/docs.js";
import { folderForTest } from "../support/folder.js";
import { rememberRows } from "../support/catalog/rows.js";
import { makeMigratedPlace, type Place, removePlace, serve, type Serving } from "../support/process.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

const token = "a-demo-token-of-my-own";
let place: Place;
let server: Serving;
let reset: () => Promise<void>;
/** A function of the shell. */
let npx: string;
beforeAll(async () => {
  place = await makeMigratedPlace();
  server = await serve({ ...place.env, DEMO_TOKEN: token, DEMO_TRAFFIC: "false" });
  const { socketFolder = "" } = (await findHolder(place.dataDir)) ?? {};
  reset = await rememberRows(embeddedConnection(socketFolder));
  const commands = await startCommandServer();
  ({ npx } = commands);
  return async () => {
    await commands.close();
    await server.stop();
    await removePlace(place);
  };
});

/** What a reader has: a running demo store as it is at first, its token, and a folder to try things in. */
async function openDemo() {
  await reset();
  const folder = await folderForTest();
  const env = { ...place.env, PATH: process.env["PATH"] ?? "", TOKEN: token };
  return { url: server.url, folder, env };
}

type Demo = Awaited<ReturnType<typeof openDemo>>;

/** `npx vitrine` is the program under test, and the address that of the server under test. */
async function runScript(text: string, { url, env, folder }: Demo): Promise<string> {
  return runShell(`${npx}\n${text.replaceAll("http://127.0.0.1:4000", url)}`, env, folder);
}

async function runOperation(query: string, variables: unknown, { url }: Demo): Promise<string> {
  const headers = { "content-type": "application/json", "x-service-access-token": token };
  const body = JSON.stringify({ query, variables });
  return (await fetch(`${url}/graphql`, { method: "POST", headers, body })).text();
}

/** A whole module, which finds the packages that are installed here. */
async function runModule(text: string, { url, env, folder }: Demo): Promise<string> {
  const file = join(folder, "example.mjs");
  await writeFile(file, text.replaceAll("http://127.0.0.1:4000", url));
  for (const name of ["node_modules", "schema.graphql"]) {
    await symlink(join(root, name), join(folder, name)).catch(() => undefined); // there already
  }
  return runShell(`"${process.execPath}" example.mjs`, env, folder);
}

async function outputOf({ block, variables }: Example, demo: Demo): Promise<string> {
  if (block.info === "js") return runModule(block.text, demo);
  return block.info === "sh" ? runScript(block.text, demo) : runOperation(block.text, variables, demo);
}

const read = (page: string) => readFile(join(root, page), "utf8");

/** Those about the sources, the help of commands, and those whose commands need a machine of their own: two have tests beside this one. */
const others = new Set([
  "architecture.md",
  "commands.md",
  "decisions.md",
  "deploying.md",
  "quickstart.md",
  "recipes.md",
]);
const pages = ["README.md"].concat(
  (await readdir(join(root, "docs")))
    .filter((name) => name.endsWith(".md") && !others.has(name))
    .map((name) => `docs/${name}`),
);

/**
 * Commands that need a checkout of their own or minutes (.ci/run runs the first two, and a person the benchmark), or what
 * is not there: a container engine, Citus.
 */
const runElsewhere =
  /^(?:npm ci && npm (?:start|test)|npm run bench.*|docker compose .*|npx vitrine distribute .*|psql "\$DATABASE_URL" .*)$/mu;

test.each(pages)("every command and operation of %s gives the result that the page shows", async (page) => {
  const examples = examplesOf(await read(page)).filter(({ block }) => !runElsewhere.test(block.text));
  if (examples.length === 0) return;
  const demo = await openDemo();
  for (const example of examples) {
    const printed = (await outputOf(example, demo)).replaceAll(demo.url, "http://127.0.0.1:4000");
    expectAsShown(example, printed, page);
  }
});
