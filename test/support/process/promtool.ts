import { spawnSync } from "node:child_process";

/** What `promtool check metrics` has to say about a text; nothing if it is clean. */
export async function lintMetrics(program: string, url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  const input = await response.text();
  const { status, stdout, stderr, error } = spawnSync(program, ["check", "metrics"], { input, encoding: "utf8" });
  if (error !== undefined) throw error;
  return status === 0 && stdout + stderr === "" ? "" : `status ${status}\n${stdout}${stderr}`;
}
