import { atMost, type Row } from "../table.js";
import { frequentWord, rareWord, search } from "./bodies.js";
import { send } from "./send.js";
import type { Stage } from "./stage.js";

const warmUps = 20;
const searches = 200;

/** How long a search among the attacker's products takes while the server has nothing else to do. */
export async function searchRows({ neighbour, target }: Stage): Promise<Row[]> {
  neighbour.pause(true);
  const rows: Row[] = [];
  for (const [kind, word] of [
    ["rare", rareWord],
    ["frequent", frequentWord],
  ] as const) {
    const request = search(word);
    const values: number[] = [];
    for (let number = 0; number < warmUps + searches; number += 1) {
      const start = performance.now();
      const { status, text } = await send(target(), request, AbortSignal.timeout(30_000));
      if (status !== 200 || !text.includes('"id"')) throw new Error(`${word}: ${status} ${text.slice(0, 200)}`);
      if (number >= warmUps) values.push(performance.now() - start);
    }
    rows.push({
      work: `17, search of a ${kind} word among 100,000 products, until its answer`,
      values,
      digits: 2,
      unit: "ms",
      bound: atMost(5, 1),
    });
  }
  neighbour.pause(false);
  return rows;
}
