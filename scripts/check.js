// `npm run check`: format, lint, types, dead code, and that what is generated and committed is up to date.
// All of them run, two at a time, so that one run shows everything; the exit status tells whether any failed.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";

/** Others read what these write, so they come first, one after the other. */
const generating = [
  ["generated code", ["node", "scripts/build.js"]],
  ["generated types of operations", ["npx", "graphql-codegen", "--config", "codegen.ts"]],
];
const checks = [
  ["types", ["npx", "tsc", "-p", "tsconfig.json"]],
  ["lint", ["npx", "oxlint", "-c", "oxlint.config.mjs"]],
  ["dead code", ["npx", "knip", "--no-config-hints"]],
  ["format", ["npx", "oxfmt", "--check"]],
  ["types of the dashboard", ["npx", "tsc", "-p", "src/dashboard/tsconfig.json"]],
  ["types of the tracker", ["npx", "tsc", "-p", "src/tracker/tsconfig.json"]],
  ["licences", ["npm", "run", "--silent", "licences"]],
];

const failed = [];
for (const step of generating) await run(step);
const waiting = checks.values();
await Promise.all([runAll(waiting), runAll(waiting)]);
await checkSchema();
if (!foldersAreSmall(["src", "test"])) failed.push("folders");
process.stdout.write(failed.length === 0 ? "check: all good\n" : `check: failed: ${failed.join(", ")}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runAll(steps) {
  for (const step of steps) await run(step);
}

/** Runs a step, and shows its output where it fails. */
async function run([name, [command, ...args]]) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32" });
  const ended = new Promise((resolve) => {
    child.once("error", resolve);
    child.once("close", resolve);
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const status = await ended;
  process.stdout.write(`${status === 0 ? "ok    " : "FAILED"} ${name}\n${status === 0 ? "" : `${stdout}${stderr}`}`);
  if (status !== 0) failed.push(name);
}

/** Prints the schema anew and compares; the committed file is left as it was. */
async function checkSchema() {
  const committed = readFileSync("schema.graphql", "utf8");
  await run(["schema.graphql is printed", ["npm", "run", "--silent", "schema"]]);
  if (readFileSync("schema.graphql", "utf8") === committed) return;
  writeFileSync("schema.graphql", committed);
  process.stdout.write("FAILED schema.graphql differs from the code: npm run schema\n");
  failed.push("schema.graphql");
}

/** A folder with more files than 12, or than 15 of tests, is to be split by subject. */
function foldersAreSmall(roots) {
  const filesMaxOf = (folder) => (folder.startsWith("test") ? 15 : 12);
  const exempt = new Set(["test/screenshots"]); // written by tests, and not committed
  const counts = new Map();
  for (const root of roots) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const folder = entry.parentPath.replaceAll("\\", "/");
      if (entry.isFile() && !folder.startsWith("src/generated")) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  const large = [...counts].filter(([folder, count]) => count > filesMaxOf(folder) && !exempt.has(folder));
  const lines = large.map(([folder, count]) => `${folder} has ${count} files, more than ${filesMaxOf(folder)}\n`);
  process.stdout.write(large.length === 0 ? "ok     sizes of folders\n" : `FAILED sizes of folders\n${lines.join("")}`);
  return large.length === 0;
}
