import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Looked for upwards: a module runs from its source in src/, or inside a bundle in dist/. */
const packageFolder = findUpwards("package.json");

/** A file or folder by its path in the package: `"prisma/migrations"`. */
export function packageFile(path: string): URL {
  return new URL(path, packageFolder);
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  return version;
}

function findUpwards(name: string): URL {
  let folder = new URL(".", import.meta.url);
  while (!existsSync(new URL(name, folder))) {
    const parent = new URL("..", folder);
    if (parent.href === folder.href) throw new Error(`There is no ${name} above ${fileURLToPath(import.meta.url)}.`);
    folder = parent;
  }
  return folder;
}
