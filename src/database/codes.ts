/** Numbers that stand for words in columns. A CHECK constraint of each table lists the same numbers. */

/** ShowEvent.type of what callers send. */
export const typeCodes = { VIEW: 1, ADD_TO_CART: 2, ORDER: 3, REFUND: 4 } as const;

/** ShowEvent.type of an event that takes back an ORDER or a REFUND of an order, at that event's own time. Callers cannot send one. */
export const reversalCodes = { ORDER: 5, REFUND: 6 } as const;

/** ShowEvent.channel and OrderPart.channel. */
export const channelCodes = { LIVE: 1, REPLAY: 2, REFERRAL: 3 } as const;

/** OrderPart.rule: by which rule a part was attributed. */
export const ruleCodes = { AS_SENT: 0, LAST_SHOW: 1, CART: 2 } as const;

/** OrderPart.reason: why a part of an order counts for its show, or for none. */
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
  /** Money that no line accounts for, such as shipping. */
  NO_LINE: 8,
} as const;

export type AttributionRule = keyof typeof ruleCodes;
export type Reason = keyof typeof reasonCodes;
