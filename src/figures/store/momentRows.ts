import type { Database } from "../../database/client.js";
import type { LiveStream } from "../../generated/prisma/client.js";
import { hostOf } from "../../shows/liveStream.js";
import { listMoments, spanOf } from "../../shows/moments/moments.js";
import { readInterval } from "../intervals/intervals.js";
import { asText, localNumber, type ShowDelimiter, snakeCase } from "./showColumns.js";

type MomentFigures = Awaited<ReturnType<typeof readMomentFigures>>[number];

/** The moments of a show with all of their figures, as NDJSON has them. */
export async function readMomentFigures(db: Database, show: LiveStream) {
  const read = (await listMoments(db, show)).map(async (moment) => {
    const { id, kind, startedAt, endedAt, productId, title } = moment;
    const wanted = { ...spanOf(moment), productId, isOfMinutes: false };
    const { seconds, isExact, sums, viewers, ofProduct: shown } = readInterval(db, show, wanted);
    const [{ ofProduct, ...all }, watched] = await Promise.all([sums(), viewers()]);
    const figures = { seconds, ...all, ...watched, ofProduct: shown && ofProduct, isExact };
    return { id, kind, startedAt, endedAt, productId, host: hostOf(moment), title, figures };
  });
  return Promise.all(read);
}

const texts = new Set(["showId", "id", "productId", "hostName", "hostEmail", "title"]);
const figures = [
  "seconds",
  "sales",
  "netSales",
  "orders",
  "quantity",
  "addToCart",
  "viewersAtStart",
  "peakViewers",
  "averageViewers",
  "newViewers",
] as const;
const ofProduct = ["sales", "orders", "quantity", "addToCart"] as const;

/** The columns of moments in exports. */
export const momentColumns: readonly string[] = [
  "showId",
  "id",
  "kind",
  "startedAt",
  "endedAt",
  "productId",
  "hostName",
  "hostEmail",
  "title",
  ...figures.map(snakeCase),
  ...ofProduct.map((name) => `product_${snakeCase(name)}`),
  "is_exact",
];

/** Callers' texts are always quoted. */
export const quotedMomentColumns: readonly boolean[] = momentColumns.map((name) => texts.has(name));

/** One cell for each of `momentColumns`; empty where nothing is known. */
export function momentCells(showId: string, moment: MomentFigures, delimiter: ShowDelimiter): string[] {
  const { id, kind, startedAt, endedAt, productId, host, title } = moment;
  const { ofProduct: product, isExact, ...numbers } = moment.figures;
  const cellOf = (value: number | null | undefined) => localNumber(String(value ?? ""), delimiter);
  return [
    asText(showId),
    asText(id),
    kind,
    startedAt.toISOString(),
    endedAt?.toISOString() ?? "",
    ...[productId, host?.name, host?.email, title].map((text) => asText(text ?? "")),
    ...figures.map((name) => cellOf(numbers[name])),
    ...ofProduct.map((name) => cellOf(product?.[name])),
    String(isExact),
  ];
}
