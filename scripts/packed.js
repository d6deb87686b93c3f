// `npm run test:packed`: packs what is built, installs it in an empty folder as a user does who lets no package run a script
// and wants nothing for development, and starts it on an embedded database of its own. Needs the registry.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

const folder = mkdtempSync(join(tmpdir(), "vitrine-packed-"));
const startLimitMs = 60_000;
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

let server;
try {
  const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]));
  run("tar", ["-xzf", filename, "--strip-components=1"], folder);
  copyFileSync("package-lock.json", join(folder, "package-lock.json"));
  run("npm", ["ci", "--ignore-scripts", "--omit=dev", "--omit=optional", "--no-audit", "--no-fund"], folder);
  run("npm", ["ls", "--all", "--omit=dev", "--omit=optional"], folder);
  server = spawn(process.execPath, ["dist/main.js", "serve"], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: "0", DATA_DIR: join(folder, "data"), NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { status } = await fetch(`${await addressOf(server)}/readyz`);
  if (status !== 200) throw new Error(`/readyz answered ${status}.`);
  process.stdout.write("packed: installed without scripts and without what is for development, and serves\n");
} finally {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** The first address that the server prints. */
function addressOf(child) {
  const printed = new Promise((resolve, reject) => {
    let text = "";
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const [address] = /http:\/\/127\.0\.0\.1:\d+/u.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  const late = setTimeout(startLimitMs, undefined, { ref: false }).then(() => {
    throw new Error("The server did not start in time.");
  });
  return Promise.race([printed, late]);
}
