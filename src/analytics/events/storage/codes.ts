import { Prisma } from "../../../generated/prisma/client.js";
import type { Channel, ShopperEventType } from "../events.input.js";

/** How events are stored: a CHECK of the table lists the same numbers. */
export const typeCodes: Readonly<Record<ShopperEventType, number>> = { VIEW: 1, ADD_TO_CART: 2, ORDER: 3, REFUND: 4 };
export const channelCodes: Readonly<Record<Channel, number>> = { LIVE: 1, REPLAY: 2, REFERRAL: 3 };

export function channelName(code: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE WHEN ${code} = 1 THEN 'LIVE' WHEN ${code} = 2 THEN 'REPLAY' ELSE 'REFERRAL' END)`;
}

/** What a VIEW or ADD_TO_CART tells of its viewer, as bits of ShowViewer.seen: 1 on LIVE, 2 on REPLAY, 4 and 8 a cart there. */
export function seenBy(type: Prisma.Sql, channel: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE WHEN ${channel} = 1 THEN 1 ELSE 2 END * CASE WHEN ${type} = 2 THEN 5 ELSE 1 END)`;
}

/** Hours since 1970. */
export function hourOf(moment: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`floor(date_part('epoch', ${moment}) / 3600)::int`;
}

/** The minute of the hour, from 0. */
export function minuteOf(moment: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`date_part('minute', ${moment} AT TIME ZONE 'UTC')::int`;
}

/** date_trunc would look the time zone up for each row. */
export function startOfMinute(moment: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`date_bin('1 minute', ${moment}, '1970-01-01T00:00:00Z'::timestamptz)`;
}

/** The start of the quarter of an hour: time zones differ from UTC by these. */
export function quarterOf(moment: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`date_bin('15 minutes', ${moment}, '1970-01-01T00:00:00Z'::timestamptz)`;
}

/** A timestamp, whose parameter is a text: parameters are sent as JSON, which has no infinity. @param seconds since 1970 */
export function timestampOf(seconds: number): Prisma.Sql {
  return Prisma.sql`to_timestamp(${String(seconds)}::float8)`;
}

export function momentOf(hour: Prisma.Sql, minute: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`to_timestamp(${hour}::float8 * 3600 + ${minute} * 60)`;
}
