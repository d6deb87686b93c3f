import { expect, test } from "vitest";
import { openTestApp } from "../../support/app.js";
import { euroStore, filesOf } from "../../support/figures/orderFiles.js";
import { saveShow } from "../../support/shows.js";
import { unattributedOf } from "../../support/figures/orders.js";

const app = await openTestApp();
const store = await euroStore(app);
const { refusal } = filesOf(app, store);

const placedAt = "2026-05-04T10:00:00Z";
const good = { id: "1", placedAt, amount: 10, lines: [{ sku: "mug", quantity: 1, amount: 10 }] };
const [item] = good.lines;
const noTime = (name: string) => `${name} must be an ISO 8601 timestamp with a time zone.`;

test.each<[unknown, string]>([
  [{ ...good, amuont: 1, amount: undefined }, 'Unknown field "amuont".'],
  [{ ...good, id: undefined }, "id is missing."],
  [{ ...good, id: null }, "id is missing."],
  [{ ...good, id: 1 }, "id must be a text."],
  [{ ...good, currency: 1 }, "currency must be a text."],
  [{ ...good, viewerId: {} }, "viewerId must be a text."],
  [{ ...good, lsId: [] }, "lsId must be a text."],
  [{ ...good, channel: true }, "channel must be a text."],
  [{ ...good, channel: "live" }, "channel must be LIVE, REPLAY, REFERRAL or AUTO."],
  [{ ...good, placedAt: null }, noTime("placedAt")],
  [{ ...good, placedAt: "2026-05-04" }, noTime("placedAt")],
  [{ ...good, placedAt: 0 }, noTime("placedAt")],
  [{ ...good, amount: "10" }, "amount must be a number."],
  [{ id: "1", placedAt }, "amount must be a number."],
  [{ ...good, lines: {} }, "lines must be a list."],
  [{ ...good, lines: [item, "mug"] }, "An item of lines is not a JSON object."],
  [{ ...good, lines: [item, []] }, "An item of lines is not a JSON object."],
  [{ ...good, lines: [{ ...item, price: 1 }] }, 'Unknown field "price".'],
  [{ ...good, lines: [{ ...item, quantity: "1" }] }, "quantity must be a number."],
  [{ ...good, lines: [{ ...item, amount: null }] }, "amount must be a number."],
  [{ ...good, lines: [{ ...item, sku: 5 }] }, "A line needs a productId or a sku."],
  [{ ...good, refunds: "all" }, "refunds must be a list."],
  [{ ...good, refunds: [null] }, "A refund is not a JSON object."],
  [{ ...good, refunds: [{ amount: 1, reason: "lost" }] }, 'Unknown field "reason".'],
  [{ ...good, refunds: [{ at: placedAt }] }, "amount must be a number."],
  [{ ...good, refunds: [{ amount: 1, at: "yesterday" }] }, noTime("at")],
  [{ ...good, refunds: [{ amount: 1, lines: 1 }] }, "lines must be a list."],
  [{ ...good, refunds: [{ amount: 1, lines: [{ sku: "mug", quantity: 1 }] }] }, "amount must be a number."],
  [
    { ...good, lines: Array.from({ length: 501 }, () => ({ ...item, amount: 0.01 })) },
    "lines must have at most 500 items.",
  ],
  [{ ...good, lines: Array.from({ length: 2_000_000 }, () => 0) }, "An item of lines is not a JSON object."],
])("%#: a line that is no order is refused, and the first fault named", async (line, message) => {
  expect(await refusal(`${JSON.stringify(good)}\n${JSON.stringify(line)}\n`)).toBe(`Line 2: ${message}`);
  expect(await unattributedOf(store)).toMatchObject({ orders: 0 });
});

test("numbers beyond JavaScript's are out of range", async () => {
  const text = JSON.stringify({ ...good, amount: "…" }).replace('"…"', "1e999");
  expect(await refusal(`${text}\n`)).toBe("Line 1: amount must be from 0 to 1000000000, not Infinity.");
});

test("an empty channel is none", async () => {
  const own = await euroStore(app);
  await own.graphql(saveShow, { liveStream: { id: "show", name: "Show", status: "LIVE", startedAt: placedAt } });
  const line = { ...good, lsId: "show", channel: "" };
  expect(await filesOf(app, own).imported(`${JSON.stringify(line)}\n`)).toMatchObject({ accepted: 1 });
});
