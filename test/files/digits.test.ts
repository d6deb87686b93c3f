import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import type { ExpectedProblem } from "../support/problems.js";
import { paths, product } from "../support/products.js";

const app = await openTestApp();

const [long, longer] = ["12345678901234567890", `-1${"0".repeat(100)}`];
const rows = [
  { id: "a", numbers: { price_max: "-1e400", price: "1e400" } },
  { id: "b", numbers: { sku: long, price: "1E+401", price_min: "-0.12345678901234567890" } },
  { id: "c", numbers: { available: "0.10", price: longer } },
];
const sent = rows.map(({ id, numbers }) => {
  const members = Object.entries(numbers).map(([name, digits]) => `,"${name}":${digits}`);
  return `${JSON.stringify(product(id)).slice(0, -1)}${members.join("")}}`;
});
const price = "must be a finite number of 0 or more, not";
const messages = [
  `price ${price} 1e400.`,
  `price_max ${price} -1e400.`,
  `sku must be a string, not ${long}.`,
  `price ${price} 1E+401.`,
  `price_min ${price} -0.12345678901234567890.`,
  `price ${price} ${longer.slice(0, 60)}….`,
  "available must be true or false, not 0.10.",
];

const columns = ["id", "sku", "title", "available", "featured_image", "url", "price", "price_min", "price_max"];
const csv = [
  columns.join(),
  ...sent.map((json) => {
    const one = JSON.parse(json, (_key, value: unknown) => (typeof value === "number" ? undefined : value));
    const { numbers } = rows.find(({ id }) => id === one.id) ?? {};
    return columns.map((name) => ({ ...one, ...numbers })[name] ?? "").join();
  }),
].join("\n");

test.each([
  ["JSON", paths.bulk, "application/json", `{"products":[${sent.join(" , ")}]}`, messages],
  [
    "long JSON",
    paths.bulk,
    "application/json",
    `{"products":[${sent.join(",")},${" ".repeat(300_000)}${sent.join(",")}]}`,
    [...messages, ...messages],
  ],
  ["NDJSON", paths.bulk, "application/x-ndjson", sent.join("\n"), messages],
  [
    "CSV", // where texts may be numbers
    paths.csv,
    "text/csv",
    csv,
    messages.filter((message) => message.includes("finite")).concat('available must be true or false, not "0.10".'),
  ],
])("messages show the digits of numbers as they were sent in %s", async (_, path, type, body, expected) => {
  const store = await createTestStore(app);
  const headers = { "content-type": type };
  const answer = await readAnswer(await store.fetch(path, { method: "POST", headers, body }));
  const own = answer.body.errors.filter(({ code }: ExpectedProblem) => code !== "DUPLICATE");
  expect(own.map(({ message }: ExpectedProblem) => message)).toEqual(expected);
});
