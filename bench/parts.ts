import { closeAll } from "./resources.js";
import type { Row } from "./table.js";

export type Parts = Readonly<Record<string, () => Promise<Row[]>>>;

/**
 * Runs the parts of a benchmark that an environment variable names, one after the other.
 *
 * @param byDefault names of those that run where it is not set
 */
export async function partRows(variable: string, parts: Parts, byDefault = Object.keys(parts)): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of process.env[variable]?.split(",") ?? byDefault) {
    const part = parts[name];
    if (part === undefined)
      throw new Error(`${variable}: no part ${name}; there are ${Object.keys(parts).join(", ")}.`);
    rows.push(...(await part()));
    await closeAll();
  }
  return rows;
}
