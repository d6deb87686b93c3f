import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { openTestApp } from "../../support/app.js";
import { scrape, untilSeries } from "../../support/process/metrics.js";

const file = "docs/alerts.yml";
const app = await openTestApp();

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: unknown;
}

async function rules(): Promise<Rule[]> {
  return parse(await readFile(file, "utf8")).groups.flatMap((group: { rules: Rule[] }) => group.rules);
}

test("each alert is described, and asks for metrics that there are", async () => {
  const page = await readFile("docs/observability.md", "utf8");
  await fetch(`${app.url}/healthz`);
  const requests = `vitrine_http_request_duration_seconds_count{method="GET",route="/healthz",status="2xx"}`;
  await untilSeries(app.url, requests, 1);
  const served = new Set([...(await scrape(app.url)).keys()].map((series) => series.replace(/\{.*/u, "")));
  /** Not served here: of workers, Citus, the embedded engine in a folder of its own, and Prometheus' own. */
  const elsewhere = new Set(["vitrine_workers_silent", "vitrine_citus_node_up", "vitrine_database_log_bytes", "up"]);
  const sentence = expect.stringMatching(/^\S.*\.$/u);
  for (const { alert, expr, annotations } of await rules()) {
    expect([alert, annotations]).toEqual([alert, { summary: sentence, action: sentence }]);
    const names = expr.match(/\b(?:up|(?:vitrine|nodejs|process)_\w+)\b/gu) ?? [];
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !served.has(name) && !elsewhere.has(name))).toEqual([]);
    for (const name of names)
      if (name.startsWith("vitrine_")) expect(page).toContain(name.replace(/_(?:count|bucket)$/u, ""));
  }
});
