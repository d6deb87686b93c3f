import { atMost, plain, progress, type Row } from "../table.js";
import { csvImport } from "./bodies.js";
import { neighbourRows, onPostgresql, row } from "./rows.js";
import { send } from "./send.js";
import type { Stage } from "./stage.js";

const rounds = 3;

/** What is owed to who imports as much as is allowed: that it is carried out, as fast as if nobody else were there. */
export async function owedRows({ neighbour, target }: Stage): Promise<Row[]> {
  const request = csvImport(100_000);
  const failures: string[] = [];
  const timed = async () => {
    const start = performance.now();
    const { status, text } = await send(target(), request, AbortSignal.timeout(120_000));
    if (status !== 200) failures.push(`${status} ${text.slice(0, 150)}`);
    return performance.now() - start;
  };
  const [alone, beside]: [number[], number[]] = [[], []];
  neighbour.pause(true);
  await timed(); // it warms up
  const { seen } = await neighbour.during(async () => {
    for (let round = 0; round < rounds; round += 1) {
      neighbour.pause(true);
      alone.push(await timed());
      neighbour.pause(false);
      beside.push(await timed());
    }
  });
  neighbour.pause(false);
  const name = "an import of 100,000 rows";
  progress(`  ${name}: alone ${plain(alone, 0, "ms")}, beside a neighbour ${plain(beside, 0, "ms")}`);
  return [
    row(`${name}: not carried out`, failures.length, { detail: failures[0] ?? "all were", bound: atMost(0, 0) }),
    {
      work: `${name} while others read: time against the same alone`,
      values: beside.map((ms, index) => ms / (alone[index] ?? NaN)),
      digits: 2,
      detail: `${plain(beside, 0, "ms")} against ${plain(alone, 0, "ms")}`,
    },
    ...neighbourRows(name, seen, onPostgresql),
  ];
}
