import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { newShow } from "../../support/figures.js";
import { cli, openCommands } from "../../support/process/cli.js";

const { db, env, run, json, refusal, fileOf } = await openCommands();

const chapters = `WEBVTT

00:00.000 --> 10:00.000
Welcome

10:00.000 --> 20:00.000
Shirts
`;
const csv = "id,kind,startedAt,productId\ncue-1,PIN,2026-05-04T18:31:00Z,linen-shirt\n";

test("show moments saves a file in the format of its extension, or of an option, and says what was new", async () => {
  const { storeId, lsId } = await newShow(db);
  const file = await fileOf(chapters, "chapters.VTT");
  const show = { store: storeId, liveStream: lsId };
  expect(await json("show", "moments", storeId, lsId, file)).toEqual({ ...show, accepted: 2, created: 2, replaced: 0 });
  const stdout = "1 moment saved: 0 new, 1 replaced.\n";
  expect(await run("show", "moments", storeId, lsId, await fileOf(csv, "pins.csv"))).toMatchObject({ stdout });
  const stdin = Readable.from([Buffer.from(csv)]);
  const piped = await cli(["show", "moments", storeId, lsId, "-", "--format", "csv"], env, { stdin });
  expect(piped).toEqual({ status: 0, stdout, stderr: "" });
  const kinds = await db.showMoment.findMany({ where: { storeId }, orderBy: { id: "asc" } });
  expect(kinds.map(({ kind, title }) => [kind, title])).toEqual([
    ["PIN", null],
    ["SEGMENT", "Shirts"],
  ]);
});

test("show moments names the problems of a file, and stores nothing of it", async () => {
  const { storeId, lsId } = await newShow(db);
  const moments = ["show", "moments", storeId, lsId];
  const file = await fileOf(`${csv},PIN,2026-05-04,\n`, "pins.csv");
  const reasons = [
    "2 problems. Nothing was stored.",
    "  line  column     reason",
    "  3     id         id is required.",
    '  3     startedAt  startedAt must be an ISO 8601 timestamp with a time zone, not "2026-05-04".',
  ];
  expect(await refusal(...moments, file, "--json")).toEqual([1, reasons.join("\n")]);
  expect(await db.showMoment.count({ where: { storeId } })).toBe(0);
  const text = await fileOf(csv, "pins.txt");
  expect(await refusal(...moments, text)).toEqual([1, `Say with --format how to read ${text}.`]);
  expect(await refusal(...moments, `${text}.csv`)).toEqual([1, `There is no file ${text}.csv.`]);
  const none = "The store has no live stream with this id.";
  expect(await refusal("show", "moments", storeId, "none", `${text}.csv`)).toEqual([1, none]);
});
