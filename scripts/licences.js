// `npm run licences`: name, version and licence of every package that Vitrine runs on, as package-lock.json has them: what
// `npm ci --omit=dev --omit=optional` installs. Fails on a licence that asks for more than to be named.
import { readFileSync } from "node:fs";

const permissive = new Set([
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "Unlicense",
]);

const { packages } = JSON.parse(readFileSync(process.argv[2] ?? "package-lock.json", "utf8"));
const found = Object.entries(packages)
  .filter(([path, { dev, devOptional, optional }]) => path !== "" && !dev && !devOptional && !optional)
  .map(([path, { version, license = "none" }]) => ({ name: path.split("node_modules/").at(-1), version, license }));

const lines = found.map(({ name, version, license }) => `${name}\t${version}\t${license}\n`);
process.stdout.write([...new Set(lines)].toSorted().join(""));
for (const { name, version, license } of found.filter((one) => !permissive.has(one.license))) {
  process.stderr.write(`licences: ${name} ${version} has ${license}, which is not among the permissive ones\n`);
  process.exitCode = 1;
}
