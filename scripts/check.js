// `npm run check`: format, lint, types, dead code, and that what is generated and committed is up to date.
// All of them run, so that one run shows everything; the exit status tells whether any failed.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const steps = [
  ["generated code", ["node", "scripts/build.js"]],
  ["generated types of operations", ["npx", "graphql-codegen", "--config", "codegen.ts"]],
  ["format", ["npx", "oxfmt", "--check"]],
  ["lint", ["npx", "oxlint", "-c", "oxlint.config.mjs"]],
  ["types", ["npx", "tsc", "-p", "tsconfig.json"]],
  ["types of the dashboard", ["npx", "tsc", "-p", "src/dashboard/tsconfig.json"]],
  ["dead code", ["npx", "knip"]],
  ["licences", ["npm", "run", "--silent", "licences"]],
];

const failed = steps.filter(([name, [command, ...args]]) => !passes(name, command, args)).map(([name]) => name);
if (!schemaIsCurrent()) failed.push("schema.graphql");
process.stdout.write(failed.length === 0 ? "check: all good\n" : `check: failed: ${failed.join(", ")}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

function passes(name, command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  process.stdout.write(`${status === 0 ? "ok    " : "FAILED"} ${name}\n${status === 0 ? "" : `${stdout}${stderr}`}`);
  return status === 0;
}

/** Prints the schema anew and compares; the committed file is left as it was. */
function schemaIsCurrent() {
  const committed = readFileSync("schema.graphql", "utf8");
  const printed = passes("schema.graphql is printed", "npm", ["run", "--silent", "schema"]);
  const current = readFileSync("schema.graphql", "utf8") === committed;
  if (!current) writeFileSync("schema.graphql", committed);
  process.stdout.write(current ? "" : "FAILED schema.graphql differs from the code: npm run schema\n");
  return printed && current;
}
