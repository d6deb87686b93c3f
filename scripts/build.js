// Generates the Prisma client where its schema changed, bundles the service with most of its dependencies, so that a start
// reads a dozen files and not two thousand, and the dashboard and the tracker where they changed, and has the embedded engine
// make a database for first starts to copy. dist/ runs with production dependencies alone.
// Types are not looked at: `npm run check` does.
//
// All of it is made in a folder beside dist/ and then moved there file by file, chunks before what names them, so that another
// process may start from dist/ at any time: it finds each file whole, and the chunks of the build whose main.js it has read, since
// their names have hashes of their contents. What an earlier build made stays for a day, for processes that run and import it
// later. Threads that such a process starts later are those of the new build, as are pages.
//   node scripts/build.js [--if-possible]   (--if-possible: do nothing where only what production needs is installed)
import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative, resolve as resolvePath } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(import.meta.url);

/** Packages that read files or start threads of their own, which they look for beside their code. */
const withOwnFiles = [
  "@electric-sql/*",
  "@graphql-yoga/render-graphiql",
  "@prisma/schema-engine-wasm",
  "pino",
  "piscina",
  "swagger-ui-dist",
];

const newDatabase = join("database", "embedded", "new.tar.gz");

/** At the depth of dist/, for the relative paths in source maps. */
const draft = "dist.draft";
const lock = "dist.lock";
/** A build takes up to a minute: an older lock was left by one that was killed. */
const lockedMs = 600_000;
const earlierFiles = join("dist", "earlier.json");
const earlierMs = 24 * 3_600_000;

/**
 * Has Prisma's query compiler read from a file. In the source of a module, where it is base64, V8 would keep it twice for as
 * long as the process runs: 9 MB.
 */
const wasmInFiles = {
  name: "wasm-in-files",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\.wasm-base64\.mjs$/ }, ({ path }) => ({
      contents: `import { readFileSync } from "node:fs";
        import file from ${JSON.stringify(`decoded:${relative(".", path)}`)};
        export const wasm = readFileSync(new URL(file, import.meta.url));`,
    }));
    onResolve({ filter: /^decoded:/ }, ({ path }) => ({
      path: path.slice("decoded:".length).replace("-base64.mjs", ""),
      namespace: "decoded",
    }));
    onLoad({ filter: /./, namespace: "decoded" }, async ({ path }) => {
      const { wasm } = await import(pathToFileURL(resolvePath(`${path}-base64.mjs`)).href);
      return { contents: Buffer.from(wasm, "base64"), loader: "file" };
    });
  },
};

/** Bundled packages in CommonJS call it for modules of Node.js. */
const requireForCommonJs = `import { createRequire as createRequireForBundle } from "node:module";
const require = createRequireForBundle(import.meta.url);`;

/** What packages load at each start although Vitrine has no use for it: a tenth of the CPU time of a start. */
const unneeded = [
  {
    // pg looks for another runtime than Node.js, before version 21 by loading all of fetch.
    file: /[\\/]pg[\\/]lib[\\/]stream\.js$/,
    from: "if (isCloudflareRuntime())",
    to: "if (false)",
  },
  {
    // Looking at the global Request loads all of fetch. On Node.js these adapters always have a Request of their own.
    file: /[\\/]@whatwg-node[\\/]server[\\/](?:esm|cjs)[\\/]createServerAdapter\.js$/,
    from: "fetchAPI.Request !== globalThis.Request",
    to: "true",
  },
  {
    // The rule for graphql-shield is another way to use this package, which Vitrine does not take.
    file: /[\\/]graphql-rate-limit[\\/]dist[\\/]index\.js$/,
    from: "require('graphql-shield')",
    to: "{}",
  },
  {
    // The option for answers that are written by a schema (customJSONSerializer) is not set; the package brings ajv, too.
    file: /[\\/]graphql-jit[\\/]dist[\\/]execution\.js$/,
    from: 'require("fast-json-stringify")',
    to: "{}",
  },
];

/** It imports CommonJS by `import()`, but for OpenTelemetry's detection of the host, which Vitrine does not call. */
const uncalled = /[\\/]@opentelemetry[\\/]resources[\\/].*[\\/]getMachineId\.js$/;

const withoutUnneeded = {
  name: "without-unneeded",
  setup({ onLoad }) {
    for (const { file, from, to } of unneeded) {
      onLoad({ filter: file }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        const contents = text.replace(from, to);
        if (contents === text) throw new Error(`${path} no longer has what is replaced in it.`);
        return { contents };
      });
    }
  },
};

if (process.argv.includes("--if-possible") && !isForDevelopment()) process.exit(0);
const unwritable = [".", "dist", "src/generated"].find((path) => existsSync(path) && !isWritable(path));
if (unwritable !== undefined) leave(unwritable);
const isFirst = !existsSync("dist/main.js");
process.stderr.write(`Building Vitrine${isFirst ? "; the first time takes up to a minute" : ""} …\n`);

await waitForOtherBuilds();
rmSync(draft, { recursive: true, force: true }); // of one that was killed
if (!isNewest("src/generated/pothos.ts", ["prisma/schema.prisma", "prisma.config.ts", "package-lock.json"])) generate();
await bundleService();
bundleForBrowsers("dashboard", "index.html");
bundleForBrowsers("tracker", "v1.js");
await makeNewDatabase();
publish();

/** Two builds at once would write the same files. */
async function waitForOtherBuilds() {
  const own = String(process.pid);
  for (;;) {
    try {
      writeFileSync(lock, own, { flag: "wx" });
      await sleep(50); // another one may have found the same lock left behind, and removes this one instead
      if (heldBy() === own) break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (isLeftBehind()) rmSync(lock, { force: true });
      else await sleep(100);
    }
  }
  process.once("exit", () => {
    if (heldBy() === own) rmSync(lock, { force: true });
  });
}

function heldBy() {
  try {
    return readFileSync(lock, "utf8");
  } catch {
    return undefined;
  }
}

function isLeftBehind() {
  const holder = heldBy();
  if (holder === undefined) return false; // it has ended
  try {
    process.kill(Number(holder), 0);
    return Date.now() - statSync(lock).mtimeMs > lockedMs;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

/** Moves what was made to dist/. */
function publish() {
  const made = filesIn(draft).filter((path) => statSync(path).isFile());
  const inDist = (path) => join("dist", relative(draft, path));
  const isNamed = (path) => ["chunks", "assets"].includes(basename(dirname(path))); // by other files
  for (const path of made.toSorted((a, b) => isNamed(b) - isNamed(a))) {
    mkdirSync(dirname(inDist(path)), { recursive: true });
    renameSync(path, inDist(path));
  }
  const unchanged = ["dashboard", "tracker"].filter((name) => !existsSync(join(draft, name)));
  removeEarlier(
    new Set(made.map(inDist)),
    [...unchanged, newDatabase].map((name) => join("dist", name)),
  );
  rmSync(draft, { recursive: true });
}

/** @param unchanged where nothing was made because nothing has changed */
function removeEarlier(made, unchanged) {
  const before = existsSync(earlierFiles) ? JSON.parse(readFileSync(earlierFiles, "utf8")) : {};
  const now = Date.now();
  const earlier = {};
  for (const path of filesIn("dist")) {
    if (made.has(path) || path === earlierFiles || !statSync(path).isFile()) continue;
    if (!Object.hasOwn(before, path) && unchanged.some((start) => path.startsWith(start))) continue;
    const since = before[path] ?? now;
    if (now - since < earlierMs) earlier[path] = since;
    else rmSync(path);
  }
  const isAny = Object.keys(earlier).length > 0;
  if (isAny) writeFileSync(earlierFiles, JSON.stringify(earlier));
  else rmSync(earlierFiles, { force: true });
}

/** Where it changed. */
function bundleForBrowsers(name, result) {
  const folder = join("src", name);
  if (isNewest(join("dist", name, result), ["package.json", ...filesIn(folder)])) return;
  const to = resolvePath(draft, name);
  const args = ["build", "--config", `${folder}/vite.config.ts`, "--outDir", to, "--emptyOutDir"];
  run("vite", "bin/vite.js", args, { NODE_ENV: "production" }); // whoever builds: tests do, too
}

/** Each entry is where its source is, relative to dist/; what they share is in dist/chunks. */
async function bundleService() {
  const { build } = await import("esbuild"); // not there where only what production needs is installed
  const { metafile } = await build({
    entryPoints: ["src/main.ts", ...filesIn("src").filter((path) => path.endsWith(".worker.ts"))],
    outbase: "src",
    outdir: draft,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    sourcemap: true,
    sourcesContent: false,
    external: withOwnFiles,
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" }, // its main file calls a `require` that is not the bundle's
    plugins: [wasmInFiles, withoutUnneeded],
    assetNames: "chunks/[name]-[hash]",
    banner: { js: requireForCommonJs },
    metafile: true,
    logLevel: "warning",
  });
  refuseNamelessImports(metafile);
  for (const path of Object.keys(metafile.outputs)) if (path.endsWith(".js")) toAscii(path);
  chmodSync(join(draft, "main.js"), 0o755);
}

/**
 * `import()` of a bundled module in CommonJS gives only its default, where Node.js gives its names, too: what works from the
 * sources would fail in dist/. A module of our own that imports the package, and is imported by `import()` itself, has them.
 */
function refuseNamelessImports({ inputs }) {
  for (const [path, { imports }] of Object.entries(inputs)) {
    if (uncalled.test(path)) continue;
    const nameless = imports.find(({ kind, path: to }) => kind === "dynamic-import" && inputs[to]?.format === "cjs");
    if (nameless === undefined) continue;
    throw new Error(`${path} imports ${nameless.path} by import(), of which dist/ would have no names.`);
  }
}

/** The embedded engine takes seconds to make a database. Where another version of the engine is installed, it does so again. */
async function makeNewDatabase() {
  if (isNewest(join("dist", newDatabase), ["package-lock.json"])) return;
  const { PGlite } = await import("@electric-sql/pglite");
  const { create } = await import("tar");
  const folder = mkdtempSync(join(tmpdir(), "vitrine-new-"));
  try {
    await (await PGlite.create(folder)).close();
    const file = join(draft, newDatabase);
    mkdirSync(dirname(file), { recursive: true });
    await create({ cwd: folder, file, gzip: true, portable: true }, ["."]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Escapes what esbuild leaves in comments and regular expressions: V8 keeps the source of a module, with two bytes for each
 * character if any of them is not of Latin 1.
 */
function toAscii(path) {
  const text = readFileSync(path, "utf8");
  const escaped = text.replaceAll(/(\\?)([\u0080-\uffff])/g, (_, backslash, character) => {
    if (backslash !== "") throw new Error(`${path} has a backslash before ${character}, which cannot be escaped.`);
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  if (escaped !== text) writeFileSync(path, escaped);
}

/** What was built before is good enough to start; without it, there is nothing to start. */
function leave(path) {
  const isBuilt = existsSync("dist/main.js");
  const reason = `This user may not write to ${resolvePath(path)}, so nothing is built`;
  const advice = isBuilt
    ? ": what was built before is used. In production, start it with: node dist/main.js serve"
    : ". Let the owner of the folder run: npm ci && npm run build. Then start with: node dist/main.js serve";
  process.stderr.write(`${reason}${advice}\n`);
  process.exit(isBuilt ? 0 : 1);
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs an installed JavaScript command; its output is shown only when it fails. */
function run(packageName, script, args, environment = {}) {
  const path = join(dirname(resolve(`${packageName}/package.json`)), script);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
    env: { ...process.env, ...environment },
    encoding: "utf8",
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(status ?? 1);
}

/** Looking for the compiler would not do: some packages that production needs bring one, but not the types of others. */
function isForDevelopment() {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  return Object.keys(devDependencies).every((name) => existsSync(join("node_modules", name)));
}

/** Prisma's command line would download an engine that `generate` never runs; any executable satisfies it. */
function generate() {
  run("prisma", "build/index.js", ["generate", "--no-hints"], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PATH: `${join("node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`, // where it looks for generators
  });
}

/** Whether a file is there, and at least as new as all that it is made from. */
function isNewest(path, sources) {
  if (!existsSync(path)) return false;
  const changedAt = Math.max(...sources.filter(existsSync).map((source) => statSync(source).mtimeMs));
  return statSync(path).mtimeMs >= changedAt;
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
}
