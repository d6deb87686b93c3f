import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { addSite } from "../../../src/stores/site.js";
import { createStore } from "../../../src/stores/store.js";
import { issueToken } from "../../../src/stores/token.js";
import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { table } from "../../../src/cli/terminal/output.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";
import { allCommands, callOf } from "../../support/process/commands.js";
import { product } from "../../support/products.js";

const { place, database } = await openSharedPlace();
const { env, dataDir } = place;

/** Writes to the clipboard, hides what comes before, and adds a row. Each character but the letters has to be escaped. */
const hostile = "a\u001b]52;c;ZXZpbA==\u0007\u009b2K\r\nadded  LIVE\t\u007f\u0085\u200e\u202e\u2028\u2029b";
const escaped = String.raw`a\u001b]52;c;ZXZpbA==\u0007\u009b2K\u000d\u000aadded  LIVE\u0009\u007f\u0085\u200e\u202e\u2028\u2029b`;
/** All but the end of a line. */
const control = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** A store all of whose texts are hostile. */
async function hostileStore() {
  const { client } = database;
  const { store } = await createStore(client, `store-${randomUUID()}`, hostile);
  await addSite(client, store, hostile, hostile);
  await importProducts(client, store, [product("p", { title: hostile, description: hostile })], {
    site: { siteId: hostile },
  });
  await issueToken(client, store, { label: hostile });
  await issueKey(client, store, { origins: ["https://shop.example"], label: hostile });
  await saveLiveStream(client, store, {
    id: hostile,
    name: hostile,
    status: "ARCHIVED",
    startedAt: new Date("2026-01-01T00:00:00Z"),
    durationSeconds: 60,
  });
  return { store };
}

async function fileOf(text: string, name = "products.csv"): Promise<string> {
  const file = join(dataDir, `${randomUUID()}-${name}`);
  await writeFile(file, text);
  return file;
}

/** Runs a command, and looks at what it wrote. */
async function lines(...args: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await cli(args, env);
  const printed = stdout + stderr;
  expect(printed).not.toMatch(control);
  expect(printed).not.toMatch(/^added/mu);
  return printed.trimEnd().split("\n");
}

const { store } = await hostileStore();

test("texts of tenants reach the terminal with their control characters written out, in as many lines as there should be", async () => {
  const shown = await lines("store", "show", store);
  expect(shown).toHaveLength(2);
  expect(shown[0]).toContain(`${store}  ${escaped}  created`);
  expect((await lines("store", "list")).filter((line) => line.startsWith(store))).toHaveLength(1);
  expect(await lines("site", "list", store)).toEqual([`${escaped}  ${escaped}`]);
  expect(await lines("token", "list", store)).toEqual([expect.stringContaining(`  ${escaped}  `)]);
  expect(await lines("key", "list", store)).toEqual([expect.stringContaining(`  ${escaped}  `)]);
  expect(await lines("show", "list", store)).toEqual([`${escaped}  ARCHIVED  2026-01-01T00:00:00.000Z  ${escaped}`]);
  expect(await lines("show", "delete", store, hostile)).toHaveLength(1); // it asks, and describes the show
});

test("so do names of columns and values in a file, and of the file", async () => {
  const quoted = `"${hostile}"`;
  const columns = "Handle,Title,Published,Variant SKU,Variant Price,Image Src";
  const file = await fileOf(`${columns},${quoted}\nmug,${quoted},true,M,"12,90",https://cdn.example/mug.jpg,x\n`);
  const template = ["--url-template", "https://shop.example/products/{handle}"];
  expect((await lines("import", store, file, ...template, "--dry-run")).join("\n")).toContain(
    `Column '${escaped}' is not used.`,
  );
  const wrong = await fileOf(`id,sku,title,available,featured_image,url\n${quoted},s,t,${quoted},x,y\n`);
  for (const policy of [[], ["--error-policy", "reject-failed"]]) {
    expect((await lines("import", store, wrong, ...policy)).join("\n")).toContain(String.raw`a\u001b]52`);
  }
  const unknown = await fileOf(`id,sku,${quoted}\n1,2,3\n`);
  await lines("import", store, unknown, "--map", `title=${hostile}2`);
  await lines("import", store, join(dataDir, hostile));
  await lines("import", store, file, "--format", hostile);
  const events = await fileOf(`${JSON.stringify({ id: hostile, type: hostile, channel: hostile })}\n`, "events.ndjson");
  await lines("events", store, hostile, events);
  await lines("events", "export", store, hostile, join(dataDir, `${randomUUID()}\u001b.ndjson`));
  await lines("export", store, join(dataDir, `${randomUUID()}\u001b.csv`));
});

test("JSON has the texts as they are", async () => {
  expect(await cliJson(["store", "show", store], env)).toMatchObject({ name: hostile });
  expect(await cliJson(["site", "list", store], env)).toMatchObject({ sites: [{ site: hostile, type: hostile }] });
  expect(await cliJson(["show", "list", store], env)).toMatchObject({ liveStreams: [{ id: hostile, name: hostile }] });
  expect(await cliJson(["token", "list", store], env)).toMatchObject({ tokens: [{ label: hostile }] });
  expect(await cliJson(["key", "list", store], env)).toMatchObject({ keys: [{ label: hostile }] });
});

/** Those of the embedded database as a whole, and one that waits for the store's tokens to end. */
const others = new Set(["restore", "backup", "store delete"]);
const commands = allCommands().filter(
  ([name, { registeredArguments }]) => registeredArguments.length > 0 && !others.has(name) && !name.endsWith(" list"),
);

/** Those that print more than one line, of a store that there is. */
const linesMade: Readonly<Record<string, number>> = {
  "store show": 2,
  "token issue": 2,
  "key issue": 2,
  "hook add": 3,
};

test.each(commands)("arguments of %s are printed likewise", async (name, command) => {
  const values = (named: string) => (argument: string) => {
    if (argument === "file") return join(dataDir, `${randomUUID()}${hostile}`);
    return argument === "store" ? named : hostile;
  };
  expect(await lines(...callOf(name, command, values(store)))).toHaveLength(linesMade[name] ?? 1);
  if (command.registeredArguments.length > 1) return; // of those with more, it is the first that is looked for, likewise
  expect(await lines(...callOf(name, command, values(hostile)))).toHaveLength(1);
});

test("the columns of a table are as wide as their widest cells", () => {
  expect(
    table(
      ["line", "column", "reason"],
      [
        ["2", "featured_image", "It is required."],
        ["10001", "id", "x"],
      ],
    ),
  ).toEqual(["line   column          reason", "2      featured_image  It is required.", "10001  id              x"]);
});
