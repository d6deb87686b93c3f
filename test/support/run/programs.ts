import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** What `npm run test:all` needs beside Node.js: by variable, the commands that will do, and where they are found. */
const programs = {
  TEST_CHROMIUM: { commands: ["chromium-headless-shell", "chromium"], of: "Debian's package chromium-headless-shell" },
  TEST_NGINX: { commands: ["nginx"], of: "Debian's package nginx-light" },
  TEST_HAPROXY: { commands: ["haproxy"], of: "Debian's package haproxy" },
  TEST_PROMTOOL: { commands: ["promtool"], of: "Debian's package prometheus" },
  TEST_SYSTEMD_ANALYZE: { commands: ["systemd-analyze"], of: "Debian's package systemd" },
} as const;

/** Servers of this machine, with the rights to create databases. */
const servers = {
  TEST_DATABASE_URL: "postgres://postgres@127.0.0.1:5432/postgres",
  TEST_REDIS_URL: "redis://127.0.0.1:6379",
} as const;

export type Needed = keyof typeof programs | keyof typeof servers;

/**
 * Sets the variables that are not set yet: to servers of this machine, and to programs in the PATH.
 *
 * @throws if a program is not there, since a test that is skipped finds nothing
 */
export function findPrograms(): void {
  for (const [name, url] of Object.entries(servers)) process.env[name] ??= url;
  const missing: string[] = [];
  if (process.getuid?.() !== 0)
    missing.push("Run it as root, who mounts small disks and runs programs as other users.");
  for (const [name, { commands, of }] of Object.entries(programs)) {
    const found = (process.env[name] ??= commands.map(inPath).find((path) => path !== undefined) ?? "");
    if (found === "") missing.push(`${commands[0]} is not in the PATH: install ${of}, or set ${name} to its path.`);
  }
  if (missing.length > 0) throw new Error(`npm run test:all needs more.\n${missing.join("\n")}`);
}

/** The value of a variable that findPrograms has set. */
export function needed(name: Needed): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this file is for npm run test:all.`);
  return value;
}

function inPath(command: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, command)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
