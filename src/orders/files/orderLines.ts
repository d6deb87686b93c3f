import * as z from "zod";
import { AppError, Problems } from "../../errors.js";
import { dateTimeName } from "../../lib/dateTime.js";
import { dateTimeSchema, numberSchema } from "../../lib/json/jsonSchemas.js";
import { clip } from "../../lib/text.js";
import { channels } from "../../events/events.input.js";
import type { OrderInput } from "../state/order.rules.js";

/** Rules refuse shorter lists. Of longer ones not every item is read, since each could be a fault. */
const itemsMax = 1_000;

const text = (name: string) => z.string(`${name} must be a text.`).nullish();
const number = (name: string) => numberSchema(`${name} must be a number.`);
const moment = (name: string) => dateTimeSchema(`${name} must be ${dateTimeName}.`);
const list = <Item extends z.ZodType>(name: string, item: Item) =>
  z
    .preprocess(
      (value) => (Array.isArray(value) ? value.slice(0, itemsMax) : value),
      z.array(item, `${name} must be a list.`),
    )
    .nullish();
const object = <Shape extends z.ZodRawShape>(name: string, shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `Unknown field "${clip(issue.keys[0] ?? "")}".`
        : `${name} is not a JSON object.`,
  });
/** What is no text counts as none. */
const reference = z.string().nullish().catch(null);

const amount = number("amount");
const lines = list(
  "lines",
  object("An item of lines", { productId: reference, sku: reference, quantity: number("quantity"), amount }),
);
const order = object("The line", {
  id: z.string({ error: ({ input }) => ((input ?? null) === null ? "id is missing." : "id must be a text.") }),
  currency: text("currency"),
  viewerId: text("viewerId"),
  lsId: text("lsId"),
  channel: text("channel")
    .transform((name) => name || null)
    .pipe(z.enum(channels, "channel must be LIVE, REPLAY, REFERRAL or AUTO.").nullable()),
  placedAt: moment("placedAt"),
  refunds: list("refunds", object("A refund", { amount, id: reference, at: moment("at").nullish(), lines })),
  amount,
  lines,
});

/** An order as recordOrders takes it. @throws {AppError} VALIDATION_FAILED naming the line */
export function readObject(value: unknown, line: number): OrderInput {
  const { data, error } = order.safeParse(value);
  if (error === undefined) return data;
  const [first] = error.issues;
  // A name that is not known may be why another one is missing.
  const unknown = error.issues.findLast(
    ({ code, path }) => code === "unrecognized_keys" && path.every((step, index) => step === first?.path[index]),
  );
  throw faultAt(line, (unknown ?? first)?.message ?? "");
}

export function faultAt(line: number, message: string): AppError {
  const problems = new Problems();
  problems.add({ code: "INVALID_VALUE", message: `Line ${line}: ${message}`, path: [], line });
  return new AppError("VALIDATION_FAILED", `Line ${line}: ${message}`, { problems: problems.list });
}
