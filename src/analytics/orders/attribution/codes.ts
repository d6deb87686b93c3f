/** How orders are attributed to shows (docs/orders.md). */
export const attributionRules = ["AS_SENT", "LAST_SHOW", "CART"] as const;
export type AttributionRule = (typeof attributionRules)[number];

/** How rules and reasons are stored in OrderPart. */
export const ruleCodes: Readonly<Record<AttributionRule, number>> = { AS_SENT: 0, LAST_SHOW: 1, CART: 2 };

/** Why a part of an order counts for its show, or for none. */
export const reasonCodes = {
  /** The sender named the show. */
  SENT: 0,
  /** The sender named no show. */
  NOT_SENT: 1,
  /** The viewer watched the show. */
  WATCHED: 2,
  NOT_WATCHED: 3,
  /** The viewer put its products into the cart in the show. */
  CARTED: 4,
  NOT_CARTED: 5,
  /** Neither the shop nor a page named a viewer. */
  NO_VIEWER: 6,
  /** The show that it counted for was deleted. */
  SHOW_DELETED: 7,
  /** What no line accounts for, such as shipping. */
  NO_LINE: 8,
} as const;
export type Reason = keyof typeof reasonCodes;

export interface Attribution {
  readonly rule: AttributionRule;
  /** How long before an order something must have happened to count. */
  readonly windowHours: number;
}
