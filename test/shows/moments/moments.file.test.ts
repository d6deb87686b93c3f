import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type MomentFormat, saveMomentFile } from "../../../src/shows/moments/moments.file.js";
import { openTestDatabase } from "../../support/app.js";
import { newShow, type ShowKey } from "../../support/figures.js";
import { formatCsv } from "../../../src/lib/fastCsv.js";

const { client: db } = openTestDatabase();

/** When each show of these tests started. */
const start = Date.parse("2026-05-04T18:30:00Z");
const at = (seconds: number) => new Date(start + seconds * 1_000);

async function* pieces(content: string | Uint8Array): AsyncGenerator<Buffer, void> {
  const bytes = Buffer.from(content);
  const size = 65_536;
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

const save = ({ storeId, lsId }: ShowKey, format: MomentFormat, content: string | Uint8Array) =>
  saveMomentFile(db, storeId, lsId, pieces(content), format);

async function stored({ storeId }: ShowKey) {
  const rows = await db.showMoment.findMany({ where: { storeId }, orderBy: [{ startedAt: "asc" }, { id: "asc" }] });
  return rows.map(({ storeId: _store, show: _show, ...moment }) => moment);
}

async function savedOf(format: MomentFormat, content: string | Uint8Array) {
  const show = await newShow(db);
  await save(show, format, content);
  return stored(show);
}

const none = { endedAt: null, productId: null, hostName: null, hostEmail: null, title: null };
const pin = { ...none, id: "p1", kind: "PIN", startedAt: at(600), endedAt: at(720), productId: "linen-shirt" };
const alex = { ...none, id: "h1", kind: "HOST", startedAt: at(601), hostName: "Alex", hostEmail: "alex@shop.example" };
const cue = (id: string, from: number, until: number, title: string | null) =>
  ({ ...none, id, kind: "SEGMENT", startedAt: at(from), endedAt: at(until), title }) as const;

/** The lines and places of the problems of a file, of which nothing may be stored. */
async function problemsOf(format: MomentFormat, content: string | Uint8Array, given?: ShowKey): Promise<unknown[]> {
  const show = given ?? (await newShow(db));
  const error = await save(show, format, content).then(String, (reason: unknown) => reason);
  expect(await stored(show)).toEqual([]);
  expect(error).toMatchObject({ code: expect.stringMatching(/^(?:VALIDATION_FAILED|BAD_REQUEST)$/u) });
  const { problems } = error as { problems: readonly { line?: number; path: readonly string[]; message: string }[] };
  return problems.map(({ line, path, message }) => [line, path.join("."), message]);
}

const csv = `Id,Kind,Started at,ended_at,productId,HOST NAME,host-email,Title
p1,PIN,2026-05-04T18:40:00Z,2026-05-04T18:42:00.900Z,linen-shirt,,,
,,,,,,,
h1,HOST,2026-05-04T20:40:01+02:00,,,Alex,alex@shop.example,
`;
const ndjson = `{"id":"p1","kind":"PIN","startedAt":"2026-05-04T18:40:00Z","endedAt":"2026-05-04T18:42:00Z","productId":"linen-shirt"}

{"id":"h1","kind":"HOST","startedAt":"2026-05-04T18:40:01Z","endedAt":null,"host":{"name":"Alex","email":"alex@shop.example"}}`;
const vtt = `WEBVTT - chapters
Kind: chapters

NOTE
Written by hand.

STYLE
::cue { color: red }

REGION
id:bottom

Welcome
00:00.000 --> 01:30.500 align:start position:10%
<v Alex>Hello &amp; <b>welcome</b>,
I &lt;3 you

2
100:00:00.000 --> 100:00:01.000
`.replace("100:00:00.000 --> 100:00:01.000", "010:00:00.000\t-->\t010:00:01.000 line:0");
const srt = `1
00:00:00,000 --> 00:01:30,500
Hello
<i>world</i> <3

2
10:00:00,000 --> 10:00:01,000
`;

test.each<[MomentFormat, string, object[]]>([
  ["csv", csv, [pin, alex]],
  ["csv", csv.replaceAll(",", ";"), [pin, alex]],
  ["ndjson", ndjson, [pin, alex]],
  ["vtt", vtt, [cue("Welcome", 0, 90, "Hello & welcome, I <3 you"), cue("cue-2", 36_000, 36_001, null)]],
  ["srt", srt, [cue("cue-1", 0, 90, "Hello world <3"), cue("cue-2", 36_000, 36_001, null)]],
])("%s is read, with any line ends, a byte order mark, and in UTF-16", async (format, content, moments) => {
  const crlf = content.replaceAll("\n", "\r\n");
  const big = Buffer.from(`\uFEFF${content}`, "utf16le").swap16();
  for (const file of [content, crlf, content.replaceAll("\n", "\r"), `\uFEFF${content}`, big])
    expect(await savedOf(format, file)).toEqual(moments);
  expect(await savedOf(format, Buffer.from(`\uFEFF${crlf}`, "utf16le"))).toEqual(moments);
});

test("a moment with a known id is replaced, and ids of cues are unique", async () => {
  const show = await newShow(db);
  expect(await save(show, "csv", csv)).toEqual({ accepted: 2, created: 2, replaced: 0 });
  expect(await save(show, "ndjson", ndjson)).toEqual({ accepted: 2, created: 0, replaced: 2 });
  const repeated = "7\n00:00:01,000 --> 00:00:02,000\n\n7\n00:00:03,000 --> 00:00:04,000\n";
  const ids = async (format: MomentFormat, file: string) => (await savedOf(format, file)).map(({ id }) => id);
  expect(await ids("srt", repeated)).toEqual(["cue-7", "cue-7-2"]);
  const given = ["a-3", "a", "a"].map((id, second) => `${id}\n00:0${second}.000 --> 00:09.000\n`);
  expect(await ids("vtt", `WEBVTT\n\n${given.join("\n")}`)).toEqual(["a-3", "a", "a-4"]);
});

test("a line of blanks is a part of its cue, unless another cue follows", async () => {
  const file =
    "WEBVTT\n\n00:00.000 --> 00:01.000\n \nHello\n\t\nyou\n \nb\n00:01.000 --> 00:02.000\n \n \n00:02.000 --> 00:03.000\nBye\n \n";
  expect(await savedOf("vtt", file)).toEqual([
    cue("cue-1", 0, 1, "Hello you"),
    cue("b", 1, 2, null),
    cue("cue-3", 2, 3, "Bye"),
  ]);
});

test.each(["vtt", "srt"] as const)("the character references of %s are read as characters", async (format) => {
  const times = format === "vtt" ? "WEBVTT\n\n00:00.000 --> 00:01.000" : "00:00:00,000 --> 00:00:01,000";
  const file = `${times}\n&lt;i&gt; &amp;lt; Tom&#39;s&nbsp;&quot;hat&quot; &other;\n`;
  expect(await savedOf(format, file)).toEqual([cue("cue-1", 0, 1, `<i> &lt; Tom's "hat" &other;`)]);
  expect(await savedOf(format, `${times}\n&nbsp;\n`)).toEqual([cue("cue-1", 0, 1, null)]);
});

test("every problem of a file is named by its line and its column or field, and nothing is stored", async () => {
  const wrongCsv = csv
    .replace("p1,PIN", "p1,PIM")
    .replace("h1,HOST,2026-05-04T20:40:01+02:00,,,Alex,alex@shop.example", "p2,PIN,2025-01-01T00:00:00Z,,,Alex,alex");
  expect(await problemsOf("csv", `${wrongCsv}b,MARKER\n"x"y,PIN\n`)).toEqual([
    [2, "kind", 'kind must be PIN, HOST, SEGMENT or MARKER, not "PIM".'],
    [4, "hostEmail", 'email must be an e-mail address, not "alex".'],
    [4, "productId", "A PIN needs productId."],
    [4, "startedAt", "startedAt must be at most a day before the start of the show, not 2025-01-01T00:00:00.000Z."],
    [5, "", "The row has 2 cells, but the header has 8."],
    [6, "", "A closing quote must be followed by a comma or the end of the line."],
  ]);
  const halfHost = "id,kind,startedAt,hostName\nh,HOST,2026-05-04T18:40:00Z,Alex\n";
  expect(await problemsOf("csv", halfHost)).toEqual([[2, "hostEmail", "host.email is required."]]);
  expect(await problemsOf("csv", "id,kind,color,Id,color\n1,PIN,red,2,blue")).toEqual([
    [1, "color", 'A moment has no column "color".'],
    [1, "Id", "The column id appears twice."],
    [1, "color", 'A moment has no column "color".'],
  ]);
  const host = '{"id":"h","kind":"HOST","startedAt":"2026-05-04T18:40:01Z","host":{"name":"A","mail":"a@b.c"}}';
  expect(await problemsOf("ndjson", `${host}\n{"id":7,"kind":"PIN"\n[]\n{"colour":"red"}\n{"id":"h"}\n`)).toEqual([
    [1, "host.mail", 'A moment has no field "host.mail".'],
    [1, "host.email", "host.email is required."],
    [2, "", "The line is not JSON: see column 21."],
    [3, "", "The line is not a JSON object."],
    [4, "colour", 'A moment has no field "colour".'],
    [4, "id", "id is required."],
    [4, "kind", "kind is required."],
    [4, "startedAt", "startedAt is required."],
    [5, "kind", "kind is required."],
    [5, "startedAt", "startedAt is required."],
  ]);
  const twice = ndjson.split("\n")[0] ?? "";
  expect(await problemsOf("ndjson", `${twice}\n\n${twice}`)).toEqual([
    [3, "id", "Another moment of this request has this id."],
  ]);
});

const noTime = (line: number, example: string, text: string) => [
  line,
  "",
  `The times of a cue must be such as ${example}, not ${JSON.stringify(text)}.`,
];

test("cues that cannot be read are named by their lines", async () => {
  const broken = `WEBVTT

00:60.000 --> 01:00.000

00:00:01,000 --> 00:00:02,000

1
00:01.000 -->
text

What is this?
And this?

3
4
00:05.000 --> 00:06.000
00:07.000 --> 00:08.000

00:09.000 --> 00:08.000
`;
  const example = "00:01:30.000 --> 00:02:00.000";
  expect(await problemsOf("vtt", broken)).toEqual([
    noTime(3, example, "00:60.000 --> 01:00.000"),
    noTime(5, example, "00:00:01,000 --> 00:00:02,000"),
    noTime(8, example, "00:01.000 -->"),
    [11, "", "A cue needs a line with its times, and --> between them."],
    [16, "", "Before a cue there must be a blank line."],
    [19, "endedAt", "endedAt must be at or after startedAt, not 2026-05-04T18:30:08.000Z."],
  ]);
  expect(await problemsOf("vtt", "00:01.000 --> 00:02.000\n")).toEqual([
    [1, "", "A WebVTT file begins with the word WEBVTT."],
  ]);
  expect(await problemsOf("srt", "\n1\n00:01.000 --> 00:02.000\n")).toEqual([
    noTime(3, "00:01:30,000 --> 00:02:00,000", "00:01.000 --> 00:02.000"),
  ]);
});

const word = fc.stringMatching(/^[a-zA-Z0-9äß€🙂.,:;"'!?()/-]{1,9}$/u).filter((text) => !text.includes("-->"));
const title = fc.array(word, { maxLength: 5 }).map((words) => words.join(" "));
const cues = fc.array(
  fc.record({ from: fc.nat(90_000_000), ms: fc.nat(90_000), title, isBroken: fc.boolean(), tag: fc.boolean() }),
  { minLength: 1, maxLength: 8 },
);
const digits = (value: number, length: number) => String(value).padStart(length, "0");

function clock(ms: number, mark: string, hoursMayMiss: boolean): string {
  const [hours, minutes, seconds] = [
    Math.floor(ms / 3_600_000),
    Math.floor(ms / 60_000) % 60,
    Math.floor(ms / 1_000) % 60,
  ];
  const short = `${digits(minutes, 2)}:${digits(seconds, 2)}${mark}${digits(ms % 1_000, 3)}`;
  return hours === 0 && hoursMayMiss ? short : `${digits(hours, 2)}:${short}`;
}

test("cues that are written as WebVTT or SRT are read as they were", async () => {
  await fc.assert(
    fc.asyncProperty(cues, fc.constantFrom("vtt" as const, "srt" as const), async (list, format) => {
      const isVtt = format === "vtt";
      const blocks = list.map(({ from, ms, title: words, isBroken, tag }, index) => {
        const time = (moment: number) => clock(moment, isVtt ? "." : ",", isVtt);
        const text = isBroken ? words.replace(" ", "\n") : words;
        return `${isVtt && tag ? "" : `${index + 1}\n`}${time(from)} --> ${time(from + ms)}\n${tag ? `<i>${text}</i>` : text}\n`;
      });
      const expected = list.map(({ from, ms, title: words }, index) =>
        cue(`cue-${index + 1}`, Math.floor(from / 1_000), Math.floor((from + ms) / 1_000), words || null),
      );
      const read = await savedOf(format, `${isVtt ? "WEBVTT\n\n" : ""}${blocks.join("\n")}`);
      const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
      expect(read.toSorted(byId)).toEqual(expected.toSorted(byId));
    }),
  );
});

test("texts of any characters are the same after CSV and NDJSON", async () => {
  const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 60 }).map((text) => `"${text}\n,`);
  const show = await newShow(db);
  const isKept = (text: string) => !/[\0\uFFFD\r]/u.test(text) && text.trim() === text;
  await fc.assert(
    fc.asyncProperty(texts.filter(isKept), async (words) => {
      const row = ["m", "MARKER", at(5).toISOString(), words];
      const quoted = row.map(() => true);
      const file = await formatCsv([["id", "kind", "startedAt", "title"], row], { delimiter: ",", quoted });
      const object = { id: "m", kind: "MARKER", startedAt: at(5), title: words };
      const marker = { ...none, ...object };
      for (const [format, content] of [
        ["csv", file],
        ["ndjson", JSON.stringify(object)],
      ] as const) {
        await save(show, format, content);
        expect(await stored(show)).toEqual([marker]);
      }
    }),
  );
});

const mebibyte = 1_048_576;
const cueAt = (index: number) => `\n00:00:0${index % 10}.000 --> 00:10:00.000\nPart ${index}\n`;
const chapters = (count: number) => `WEBVTT\n${Array.from({ length: count }, (_, index) => cueAt(index)).join("")}`;

test("a show takes 2,000 cues of a file, which may overlap, and no more", async () => {
  expect(await savedOf("vtt", chapters(2_000))).toHaveLength(2_000);
  const tooMany = [[undefined, "", "A show has at most 2,000 moments."]];
  expect(await problemsOf("vtt", chapters(2_001))).toEqual(tooMany);
  const show = await newShow(db);
  await save(show, "vtt", chapters(2_000));
  await expect(save(show, "csv", csv)).rejects.toThrow("A show has at most 2,000 moments.");
  expect(await stored(show)).toHaveLength(2_000);
});

const formats = ["csv", "ndjson", "srt", "vtt"] as const;
const hostile: Readonly<Record<string, string>> = {
  nothing: "",
  NULs: "\0".repeat(4 * mebibyte),
  "no line end": "WEBVTT".padEnd(4 * mebibyte, "a"),
  "only line ends": "WEBVTT\n".padEnd(mebibyte, "\n"),
  "lines of a letter": "WEBVTT\n".padEnd(mebibyte, "a\n"),
  "blocks of a letter": "WEBVTT\n".padEnd(mebibyte, "\na\n"),
  arrows: "WEBVTT\n\n".padEnd(4 * mebibyte, "-->"),
  "lines of arrows": "WEBVTT\n\n".padEnd(mebibyte, "-->\n"),
  "tags that never end": "WEBVTT\n\n00:01.000 --> 00:02.000\n".padEnd(4 * mebibyte, "<a"),
  "ends of tags": "WEBVTT\n\n00:01.000 --> 00:02.000\n".padEnd(4 * mebibyte, "</1"),
  "entities that never end": "WEBVTT\n\n00:01.000 --> 00:02.000\n".padEnd(4 * mebibyte, "&a"),
  digits: "WEBVTT\n\n".padEnd(4 * mebibyte - 20, "0").concat(" --> 00:02.000\n"),
  blanks: "WEBVTT\n\n00:01.000 -->".padEnd(4 * mebibyte, " "),
  brackets: "[".repeat(4 * mebibyte),
  "a deep object": '{"a":'.repeat(mebibyte / 2),
  quotes: '"'.repeat(4 * mebibyte),
  columns: "id,".repeat(mebibyte),
};

const hostileShow = await newShow(db);

test.each(Object.keys(hostile))("%s: no file takes more than time by its size, and none is stored", async (name) => {
  for (const format of formats) {
    const { length } = await problemsOf(format, hostile[name] ?? "", hostileShow);
    expect([format, length > 0 && length <= 100]).toEqual([format, true]);
  }
});

test("a file that is too large, no text, or in no known encoding is refused as a whole", async () => {
  const tooLarge = [[undefined, "", "The file has more than 4194304 bytes."]];
  const notUtf8 = [[undefined, "", "Line 2 is not valid UTF-8."]];
  for (const format of formats) {
    expect(await problemsOf(format, "a".repeat(5 * mebibyte), hostileShow)).toEqual(tooLarge);
    expect(await problemsOf(format, Buffer.from("WEBVTT\nd\xe9j\xe0", "latin1"), hostileShow)).toEqual(notUtf8);
    const packed = await problemsOf(format, Buffer.from([0x1f, 0x8b, 8]), hostileShow);
    expect(packed).toEqual([[undefined, "", expect.stringContaining("gzip, and not CSV, NDJSON, SRT or WebVTT")]]);
  }
});
