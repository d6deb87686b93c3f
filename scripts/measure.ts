// `npm run measure`: how large and how simple the code is: files and lines by folder, complex functions, imports
// that lint forbids, and the files that a warm request passes through, by a server with the embedded engine. With --check it fails
// where a figure is larger than docs/decisions.md has it: what grows is explained there.
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { makeProduct } from "../bench/products.js";
import { graphqlReadRequest, postRequest, readRequest, send } from "../bench/requests.js";
import { closeAll } from "../bench/resources.js";
import { type BenchServer, graphql, startServer } from "../bench/server.js";

/** The rules of oxlint.config.mjs, without its exceptions for complex functions. */
const strictLint = `import config from "./oxlint.config.mjs";
const strict = config.overrides.map(({ rules, ...override }) => {
  const { complexity, ...others } = rules;
  return { ...override, rules: others };
});
export default { ...config, options: {}, overrides: strict };`;

/** What a request still does after its answer: far less than the second of timers, which would count as its files. */
const afterAnswerMs = 50;

const roots = ["src", "test", "bench", "docs"];

const files = spawnSync("git", ["ls-files", ...roots], { encoding: "utf8" })
  .stdout.trim()
  .split("\n")
  .filter((file) => existsSync(file));
const isText = /\.(?:ts|tsx|js|mjs|css|html|md)$/u;
const linesOf = (file: string) => readFileSync(file, "utf8").split("\n").length - 1;

const measured = new Map<string, number>();
const isCheck = process.argv.includes("--check");
printLines();
if (!isCheck) printLint();
await printRequests();
if (isCheck) checkGrowth();

function print(what: string, value: number): void {
  measured.set(what, value);
  process.stdout.write(`${String(value).padStart(7)}  ${what}\n`);
}

/** Compares with the table of sizes in docs/decisions.md. */
function checkGrowth(): void {
  const rows = readFileSync("docs/decisions.md", "utf8").matchAll(/^\| (?<what>[^|]+?) +\| (?<most>[\d,]+) +\|/gmu);
  const known = new Map(
    [...rows].map(({ groups }) => [groups?.["what"], Number(groups?.["most"]?.replaceAll(",", ""))]),
  );
  for (const what of [
    "lines in src",
    "files in src",
    ...[...measured.keys()].filter((name) => name.startsWith("files that")),
  ]) {
    const [now, most] = [measured.get(what) ?? NaN, known.get(what) ?? NaN];
    if (now <= most) continue;
    process.stderr.write(
      `measure: ${what}: ${now}, and docs/decisions.md has ${most}. Change that, and say there why it grew.\n`,
    );
    process.exitCode = 1;
  }
}

function printLines(): void {
  const folderOf = (file: string) =>
    file.split("/", file.startsWith("src/") && dirname(file) !== "src" ? 2 : 1).join("/");
  const lines = new Map<string, number>();
  for (const file of files.filter((name) => isText.test(name))) {
    for (const folder of new Set([file.split("/", 1).join("/"), folderOf(file)])) {
      lines.set(folder, (lines.get(folder) ?? 0) + linesOf(file));
    }
  }
  for (const [folder, count] of [...lines].toSorted(([one], [other]) => one.localeCompare(other))) {
    print(`lines in ${folder}`, count);
  }
  print("files in src", files.filter((file) => file.startsWith("src/")).length);
}

function printLint(): void {
  const file = "oxlint.measure.mjs";
  writeFileSync(file, strictLint);
  try {
    const args = ["oxlint", "-c", file, "--format", "json", "src"];
    const { stdout } = spawnSync("npx", args, { encoding: "utf8", maxBuffer: 1e8 });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string }[] };
    const count = (rule: string) => diagnostics.filter(({ code }) => code.includes(`(${rule})`)).length;
    print("functions of src of a complexity over 12", count("complexity"));
    print("imports against the one direction", count("no-restricted-imports"));
    print("circles of imports", count("no-cycle"));
  } finally {
    rmSync(file);
  }
}

async function printRequests(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-measure-"));
  const called = join(folder, "called");
  try {
    const server = await startServer(
      { DATA_DIR: join(folder, "data") },
      { NODE_OPTIONS: `--import=${pathToFileURL("scripts/calledFiles.js").href}`, CALLED_FILES: called },
    );
    await prepare(server);
    const hook = await server.command("hook", "add", server.store, "--from", "woocommerce");
    for (const [name, request] of requests(server, hook)) {
      for (let time = 0; time < 5; time += 1) await request();
      await filesCalled(server, called);
      const runs = [];
      for (let time = 0; time < 3; time += 1) {
        await request();
        await sleep(afterAnswerMs);
        runs.push(await filesCalled(server, called));
      }
      // Without what a timer called meanwhile.
      const passed = runs.reduce((one, other) => one.filter((file) => other.includes(file)));
      print(`files that ${name} passes`, passed.length);
      if (process.argv.includes("--files")) process.stdout.write(passed.map((file) => `           ${file}\n`).join(""));
    }
  } finally {
    await closeAll();
    rmSync(folder, { recursive: true });
  }
}

async function prepare(server: BenchServer): Promise<void> {
  await server.command("store", "set", server.store, "--currency", "EUR");
  await send(server, postRequest("/external/product/v1/bulk", server.token, { products: [makeProduct(0)] }));
  const liveStream = { id: "show", name: "Show", status: "LIVE", startedAt: new Date().toISOString() };
  await graphql(server, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s: liveStream });
}

type Sending = readonly [name: string, send: () => Promise<void>];

function requests(server: BenchServer, hook: { readonly url: string; readonly secret: string }): readonly Sending[] {
  let events = 0;
  let orders = 0;
  const csv = `id,sku,title,description,price,price_min,price_max,available,images,featured_image,url\n${Array.from({ length: 100 }, (_, row) => `c${row},k${row},Shirt,,1.5,,,true,,https://shop.example/1.png,https://shop.example/1\n`).join("")}`;
  const record =
    'mutation ($events: [ShopperEventInput!]!) { recordShopperEvents(lsId: "show", events: $events) { accepted } }';
  const batch = () =>
    Array.from({ length: 20 }, () => ({
      id: `e${(events += 1)}`,
      channel: "LIVE",
      viewerId: "v",
      type: "VIEW",
      seconds: 1,
    }));
  return [
    ["a REST read", () => send(server, readRequest(server.token, "p-0"))],
    ["a GraphQL read", () => send(server, graphqlReadRequest(server.token, "p-0"))],
    [
      "a CSV in a JSON body",
      () => send(server, postRequest("/external/product/v1/bulk/csv", server.token, { csvContent: csv })),
    ],
    ["a batch of events", async () => void (await graphql(server, record, { events: batch() }))],
    ["an order of a hook", () => deliver({ ...hook, url: server.url + new URL(hook.url).pathname }, (orders += 1))],
  ];
}

async function filesCalled({ pid }: BenchServer, called: string): Promise<string[]> {
  rmSync(called, { force: true });
  process.kill(pid, "SIGUSR2");
  for (let tries = 0; !existsSync(called); tries += 1) {
    if (tries === 6_000) throw new Error("The server did not report the files that were called.");
    await sleep(10);
  }
  return readFileSync(called, "utf8")
    .split("\n")
    .filter((name) => name !== "");
}

/** Sends an order as WooCommerce does. */
async function deliver({ url, secret }: { readonly url: string; readonly secret: string }, id: number): Promise<void> {
  const at = new Date().toISOString().slice(0, 19);
  const times = { date_created_gmt: at, date_modified_gmt: at, date_paid_gmt: at };
  const line = { id: 1, name: "Shirt", product_id: 9, sku: "k-0", quantity: 1, total: "10.00", total_tax: "0.00" };
  const order = {
    id,
    status: "processing",
    currency: "EUR",
    total: "10.00",
    ...times,
    line_items: [line],
    refunds: [],
  };
  const body = JSON.stringify(order);
  const headers = {
    "content-type": "application/json",
    "x-wc-webhook-topic": "order.updated",
    "x-wc-webhook-signature": createHmac("sha256", secret).update(body).digest("base64"),
  };
  const { status } = await fetch(url, { method: "POST", headers, body });
  if (status !== 200) throw new Error(`${url}: ${status}`);
}
