import * as fc from "fast-check";
import { texts } from "./fuzz.values.js";

/** Ids of shows. */
export const ids = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("show", "other") },
  { weight: 1, arbitrary: texts },
);
export const times = fc.oneof(
  fc
    .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom(
    "2026-05-04T18:30:00Z",
    "2026-05-04T18:30:00+02:00",
    "9999-12-31T23:59:59.999Z",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "2024-02-29T12:00:00.123456789-05:00",
  ),
);
export const counts = fc.oneof(
  fc.nat(100_000),
  fc.constantFrom(0, -0, 1, 86_400, 31_622_400, 31_622_401, 2 ** 31 - 1, 2 ** 31),
);
const amounts = fc.oneof(
  fc.double({ min: 0, max: 1e9, noNaN: true }),
  fc.constantFrom(0, -0, 1e-320, 0.005, 1e9, 86_400),
);
/** As recordShopperEvents takes them, most of them. */
export const events = fc.record(
  {
    id: fc.oneof(fc.constantFrom("1", "2", "3"), texts),
    type: fc.constantFrom("VIEW", "ADD_TO_CART", "ORDER"),
    channel: fc.constantFrom("LIVE", "REPLAY", "LIVE", "REFERRAL"),
    viewerId: fc.oneof(fc.constantFrom("v1", "v2"), texts),
    device: fc.option(texts),
    seconds: fc.option(amounts),
    amount: fc.option(amounts),
    productId: fc.option(texts),
    occurredAt: fc.option(times),
  },
  { requiredKeys: ["id", "type", "channel", "viewerId", "amount"] },
);
