import { asBuffer } from "../../lib/text.js";
import { Prisma } from "../../generated/prisma/client.js";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;
const uuidCharacters = 36;
const uuidBytes = 16;

/**
 * An id as stored, in PostgreSQL's hexadecimal form of `bytea`. A canonical UUID (RFC 9562: lower case, with dashes) is stored as its 16
 * bytes, every other id as UTF-8. A NUL, which no id contains, follows text of 16 bytes, so that different ids always have different
 * bytes.
 */
export function idBytes(id: string): string {
  if (uuid.test(id)) {
    return `\\x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}${id.slice(24)}`;
  }
  const hex = Buffer.from(id).toString("hex");
  return `\\x${hex}${hex.length === uuidBytes * 2 ? "00" : ""}`;
}

/** An array literal of ids as stored. Writes UUIDs into a buffer, because concatenating texts takes four times as long. */
export function idArrayLiteral(ids: readonly string[]): string {
  return uuidArrayLiteral(ids) ?? `{${ids.map((id) => `\\${idBytes(id)}`).join(",")}}`;
}

const [dash, openBrace, closeBrace, comma, backslash, x] = [45, 123, 125, 44, 92, 120];
const isHexDigit = Uint8Array.from({ length: 128 }, (_, code) => Number(/[0-9a-f]/u.test(String.fromCharCode(code))));
const dashPlaces: ReadonlySet<number> = new Set([8, 13, 18, 23]);
/** The length of `,\\x` and the digits. Within an array, one backslash escapes the other. */
const elementLength = 4 + uuidBytes * 2;

/** @returns undefined if an id is neither a canonical UUID nor empty */
function uuidArrayLiteral(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return "{}";
  const literal = Buffer.allocUnsafe(ids.length * elementLength + 1);
  let end = 0;
  for (const id of ids) {
    const start = end;
    literal[end++] = comma;
    literal[end++] = backslash;
    literal[end++] = backslash;
    literal[end++] = x;
    if (id === "") continue;
    if (id.length !== uuidCharacters) return undefined;
    for (let place = 0; place < uuidCharacters; place += 1) {
      const code = id.charCodeAt(place);
      if (code < 128 && isHexDigit[code] === 1) literal[end++] = code;
      else if (code !== dash || !dashPlaces.has(place)) return undefined;
    }
    if (end !== start + elementLength) return undefined; // a digit in place of a dash
  }
  literal[0] = openBrace;
  literal[end++] = closeBrace;
  return literal.toString("latin1", 0, end);
}

export function idText(bytes: Uint8Array): string {
  const buffer = asBuffer(bytes);
  if (buffer.length === uuidBytes) {
    const hex = buffer.toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }
  return buffer.toString("utf8", 0, buffer.length - (buffer.length === uuidBytes + 1 && buffer.at(-1) === 0 ? 1 : 0));
}

/** Whether an event is an entry of an order: its id has 33 bytes and begins with a NUL (orders/state/orderEntries.ts). */
export function isOfOrder(id: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(octet_length(${id}) = 33 AND get_byte(${id}, 0) = 0)`;
}

export function channelName(code: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE WHEN ${code} = 1 THEN 'LIVE' WHEN ${code} = 2 THEN 'REPLAY' ELSE 'REFERRAL' END)`;
}

const isSold = (type: Prisma.Sql) => Prisma.sql`${type} IN (3, 5)`;

/** How an event changes the number of orders, sales and refunds, for a SELECT or a sum. */
export const changes = {
  isSold,
  orders: (type: Prisma.Sql) => Prisma.sql`(CASE WHEN ${type} = 3 THEN 1 WHEN ${type} = 5 THEN -1 ELSE 0 END)`,
  sales: (type: Prisma.Sql, value: Prisma.Sql) =>
    Prisma.sql`(CASE WHEN ${type} = 3 THEN ${value} WHEN ${type} = 5 THEN -${value} ELSE 0 END)`,
  refunds: (type: Prisma.Sql, value: Prisma.Sql) =>
    Prisma.sql`(CASE WHEN ${type} = 4 THEN ${value} WHEN ${type} = 6 THEN -${value} ELSE 0 END)`,
};

/** A viewer with a VIEW of so many seconds is engaged. */
const engagedSeconds = Prisma.sql`3`;

/** Bits of ShowViewer.seen by channel; ANY has the bits of all channels. A total counts viewers with any of a kind's bits. */
export const channelBits = Prisma.sql`
  (VALUES ('LIVE', 1, 4, 16, 64), ('REPLAY', 2, 8, 32, 128), ('REFERRAL', 0, 0, 0, 256), ('ANY', 3, 0, 48, 448))
    AS c(channel, viewer, cart, engaged, buyer)`;

/** A viewer who gets the first of these bits counts in LiveStreamGroup by the device on that channel, or by the source. */
export const groupBits = Prisma.sql`(VALUES ('LIVE', 1), ('REPLAY', 2), ('SOURCE', 3)) AS c(kind, bits)`;

/** When a VIEW began, to the microsecond: it occurred at its end. */
export function beginningOfView(occurredAt: Prisma.Sql, seconds: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${occurredAt} - ${seconds}::float8 * interval '1 second')`;
}

/** What an event other than a REFUND shows about its viewer, as bits of ShowViewer.seen. */
export function seenBy(type: Prisma.Sql, channel: Prisma.Sql, seconds: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(
    CASE WHEN ${isSold(type)} THEN 64 << (${channel} - 1)
      ELSE CASE WHEN ${type} = 2 THEN 5 WHEN ${seconds} >= ${engagedSeconds} THEN 17 ELSE 1 END << (${channel} - 1) END)`;
}

/** Whether an event shows something about a viewer. An ORDER has a buyer, who need not be a viewer. */
export function isOfViewer(type: Prisma.Sql, viewerId: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${type} < 3 OR (${isSold(type)} AND ${viewerId} <> ''))`;
}

/** Hours since 1970. */
export function hourOf(moment: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`floor(date_part('epoch', ${moment}) / 3600)::int`;
}

/** The minute of the hour, from 0. */
export function minuteOf(moment: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`date_part('minute', ${moment} AT TIME ZONE 'UTC')::int`;
}

/** The start of the quarter of an hour, the step by which time zones differ. Not date_trunc, which looks up the time zone for each row. */
export function quarterOf(moment: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`date_bin('15 minutes', ${moment}, '1970-01-01T00:00:00Z'::timestamptz)`;
}

/** A timestamp from a text parameter, because parameters are sent as JSON, which has no infinity. @param seconds since 1970 */
export function timestampOf(seconds: number): Prisma.Sql {
  return Prisma.sql`to_timestamp(${String(seconds)}::float8)`;
}

export function momentOf(hour: Prisma.Sql, minute: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`to_timestamp(${hour}::float8 * 3600 + ${minute} * 60)`;
}
