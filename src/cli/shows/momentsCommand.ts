import { type Command, Option } from "commander";
import { AppError } from "../../errors.js";
import { fileBytes } from "../../files/csv/csvPieces.js";
import { count } from "../../lib/text.js";
import { type MomentFormat, saveMomentFile } from "../../shows/moments/moments.file.js";
import { isNdjson } from "../products/import.input.js";
import { withRelay, withStore } from "../runtime.js";
import { addCommand } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";

const help = `
A moment with a known id is replaced. The format follows the file extension:
- .csv: the columns id, kind (PIN, HOST, SEGMENT or MARKER), startedAt, endedAt, productId, hostName, hostEmail and title.
- .ndjson, .jsonl: a JSON object on each line, as saveMoments takes it.
- .srt, .vtt: each cue is a SEGMENT with its text as title. Its times count from the start of the show.
All is checked before anything is stored, and each problem is listed with its line.

Examples:
  npx vitrine show moments acme spring-show pins.csv
  npx vitrine show moments acme spring-show chapters.vtt`;

const formats: readonly MomentFormat[] = ["csv", "ndjson", "srt", "vtt"];

type MomentsOptions = OutputOptions & { readonly format?: MomentFormat };

export function addMomentsCommand(show: Command): void {
  addCommand(show, "moments <store> <lsid>", "save the moments of a file: all of them, or none", help)
    .argument("<file>", "CSV, NDJSON, SRT or WebVTT, or - for standard input")
    .addOption(new Option("--format <format>", "overrides the file extension").choices(formats))
    .action(async (store: string, lsId: string, file: string, options: MomentsOptions) => {
      const byName = isNdjson(file) ? "ndjson" : formats.find((name) => file.toLowerCase().endsWith(`.${name}`));
      const format = options.format ?? byName;
      if (format === undefined) throw new AppError("BAD_REQUEST", `Say with --format how to read ${file}.`);
      const receipt = await withStore(store, (db, config, database) =>
        withRelay(database, config, async (changed) => {
          const bytes: AsyncIterable<Buffer> = file === "-" ? process.stdin : fileBytes(file);
          const saved = await saveMomentFile(db, store, lsId, bytes, format);
          changed(store, lsId);
          return saved;
        }),
      );
      const text = `${count(receipt.accepted, "moment")} saved: ${receipt.created} new, ${receipt.replaced} replaced.`;
      await print({ store, liveStream: lsId, ...receipt }, text, options);
    });
}
