import { useState } from "preact/hooks";
import { asFailure, failureOf } from "../connection/failure.js";
import { shownAt, timeZone } from "../timeZone.js";
import type { Point } from "../buckets.js";
import type { Bounds } from "../overview/range.js";
import type { Caller } from "../connection/api.js";

/** Saves a file for spreadsheets. @param props.save creates it, or throws the reason why it cannot */
export function ExportButton({ save }: { readonly save: () => Promise<void> | void }) {
  const [problem, setProblem] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const start = async () => {
    if (isSaving) return;
    setSaving(true);
    setProblem(undefined);
    try {
      await save();
    } catch (error) {
      setProblem(asFailure(error).message);
    }
    setSaving(false);
  };
  return (
    <>
      <button type="button" title="Save as CSV" aria-disabled={isSaving} onClick={() => void start()}>
        {isSaving ? "Exporting…" : "Export"}
      </button>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** Spreadsheets of languages with a decimal comma expect semicolons between cells. */
const hasDecimalComma = new Intl.NumberFormat(globalThis.navigator?.language).format(0.5).includes(",");
const delimiter = hasDecimalComma ? ";" : ",";

/** Saves the figures of all shows that started within bounds. @throws {Failure} */
export async function saveShows({ from, until }: Pick<Bounds, "from" | "until">, { token }: Caller): Promise<void> {
  const query = new URLSearchParams({ from, until, bom: "true", delimiter });
  const headers = { "X-Service-Access-Token": token };
  const response = await fetch(`external/analytics/v1/live-streams.csv?${query}`, { headers, credentials: "omit" });
  if (!response.ok) throw await failureOf(response);
  const day = (iso: string, beforeMs = 0) => new Date(shownAt(Date.parse(iso) - beforeMs)).toISOString().slice(0, 10);
  saveFile(`shows ${day(from)} ${day(until, 1)}.csv`, await response.blob());
}

/** Saves the timeline of a show, with times in the store's time zone. */
export function saveTimeline(lsId: string, points: readonly Point[]): void {
  const rows = points.map(({ startsAtMs, viewers, carts, orders, sales }) => [
    new Date(shownAt(startsAtMs)).toISOString().slice(0, 16).replace("T", " "),
    ...[viewers, carts, orders, sales].map((value) => (hasDecimalComma ? `${value}`.replace(".", ",") : `${value}`)),
  ]);
  const heads = [`from (${timeZone()})`, "viewers", "added to cart", "orders", "sales"];
  const text = [heads, ...rows].map((cells) => `${cells.join(delimiter)}\n`).join("");
  saveFile(`${lsId}.csv`, new Blob(["\ufeff", text], { type: "text/csv" }));
}

function saveFile(name: string, content: Blob): void {
  const href = URL.createObjectURL(content);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser may still be asking where to save it
}
