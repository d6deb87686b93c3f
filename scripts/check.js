// `npm run check`: format, lint, types, dead code, that what is generated and committed is up to date, and that nothing has grown.
// All of them run, two at a time, so that one run shows everything; the exit status tells whether any failed.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
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
await run(["sizes", ["npx", "tsx", "scripts/measure.ts", "--check"]]); // alone: others would delay what it observes
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
