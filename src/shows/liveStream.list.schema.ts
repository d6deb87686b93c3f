import type { RootDatabase } from "../database/client.js";
import { errorAt } from "../errors.js";
import type { LiveStream as LiveStreamRow } from "../generated/prisma/client.js";
import { parseDateTime } from "../lib/dateTime.js";
import { builder, enumValues } from "../schema/builder.js";
import { connectionType, decodeCursor, encodeCursor, pageArgs, pageSize } from "../schema/connections.js";
import type { Context } from "../schema/context.js";
import { sharedRead } from "../schema/limits/sharedReads.js";
import { cursorOfOtherOrder, SortDirection, type SortOrder, sortPosition } from "../schema/sortOrder.js";
import { checkOpenRange } from "../lib/dateRange.js";
import {
  countLiveStreams,
  listLiveStreams,
  type LiveStreamFilter,
  type LiveStreamPosition,
} from "./liveStream.list.js";
import {
  isByTotals,
  isSortValue,
  listOrderedLiveStreams,
  type LiveStreamOrder as LiveStreamOrderValue,
} from "./liveStream.sort.js";
import { LiveStream, LiveStreamStatus } from "./liveStream.schema.js";

const scheduled: LiveStreamRow["status"] = "SCHEDULED";

interface ListedShow extends LiveStreamRow {
  readonly place?: readonly string[];
}

const shows = connectionType("LiveStream", LiveStream, ({ place, status, startedAt, id }: ListedShow) =>
  encodeCursor(...(place ?? [startedAt.toISOString(), id, ...(status === scheduled ? [scheduled] : [])])),
);

const LiveStreamOrder = builder.enumType("LiveStreamOrder", {
  description: "What a list of shows is ordered by.",
  values: enumValues<LiveStreamOrderValue>({
    STARTED_AT: "By start. In descending order, scheduled shows come last, the next one first.",
    NAME: "By the first 200 characters of the name, ignoring the case of A to Z.",
    SALES: "By sales of all channels.",
    ORDERS: "By orders of all channels.",
    VIEWERS: "By viewers of LIVE and of REPLAY, added up.",
  }),
});

builder.queryFields((t) => ({
  liveStreams: t.field({
    extensions: { scope: "analytics:read" },
    type: shows.type,
    nullable: true,
    description:
      "The store's shows, newest first; scheduled shows come last, the next one first. Other orders do not separate scheduled shows; ties are ordered by id, in the same direction. A list by SALES, ORDERS or VIEWERS is an analytics read, and equal ones within ten seconds count once.",
    args: {
      ...pageArgs(),
      status: t.arg({ type: LiveStreamStatus, required: false, description: "Only shows in this state." }),
      search: t.arg.string({
        required: false,
        description:
          "Only shows whose name or id contains all of these words, in any case: at most 8 words, 200 characters.",
      }),
      host: t.arg.string({
        required: false,
        description: "Only shows of this host: the whole name or e-mail address, in any case.",
      }),
      from: t.arg({ type: "DateTime", required: false, description: "Only shows that start at or after it." }),
      until: t.arg({ type: "DateTime", required: false, description: "Only shows that start before it." }),
      orderBy: t.arg({
        type: LiveStreamOrder,
        defaultValue: "STARTED_AT",
        description: "What the list is ordered by; then by id.",
      }),
      direction: t.arg({
        type: SortDirection,
        required: false,
        description: "By default ASC for NAME, and DESC for all others.",
      }),
    },
    resolve: (parent, args, context, info) =>
      (isByTotals(args.orderBy) ? listByTotals : listShows)(parent, args, context, info),
  }),
}));

interface ShowListArgs extends LiveStreamFilter {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly orderBy: LiveStreamOrderValue;
  readonly direction?: "ASC" | "DESC" | null | undefined;
}

async function listShows(_: unknown, args: ShowListArgs, { db, identity: { storeId } }: Context) {
  const { first, after, status, search, host, orderBy } = args;
  const filter = { status, search, host, ...checkOpenRange(args.from, args.until) };
  const order = { orderBy, direction: args.direction ?? (orderBy === "NAME" ? "ASC" : "DESC") };
  const isNewestFirst = orderBy === "STARTED_AT" && order.direction === "DESC";
  const page = isNewestFirst
    ? await listLiveStreams(db, storeId, { ...filter, first: pageSize(first), after: showCursor(after) })
    : await listInOrder(db, storeId, order, { ...filter, first: pageSize(first), after });
  return shows.connect(page, after, (max) => countLiveStreams(db, storeId, filter, max));
}

/** The list and the figures of its nodes count as one analytics read. */
const listByTotals = sharedRead("analytics", listShows);

async function listInOrder(
  db: RootDatabase,
  storeId: string,
  order: SortOrder<LiveStreamOrderValue>,
  { after, ...page }: LiveStreamFilter & { readonly first: number; readonly after: string | null | undefined },
) {
  const position = sortPosition(after, order, isSortValue(order.orderBy));
  const list = await listOrderedLiveStreams(db, storeId, { ...page, ...order, after: position });
  const nodes = list.nodes.map(({ sortValue, ...show }): ListedShow => ({
    ...show,
    place: [order.orderBy, order.direction, sortValue, show.id],
  }));
  return { nodes, hasNextPage: list.hasNextPage };
}

function showCursor(after: string | null | undefined): LiveStreamPosition | undefined {
  const [time, id, status, other] = decodeCursor(after, 2, 3, 4) ?? [];
  if (other !== undefined) throw cursorOfOtherOrder();
  if (time === undefined || id === undefined) return undefined;
  const startedAt = parseDateTime(time);
  const isScheduled = status === scheduled;
  if (startedAt !== undefined && (isScheduled || status === undefined)) return { startedAt, id, isScheduled };
  throw errorAt("VALIDATION_FAILED", "after must be a cursor of this list.", ["after"]);
}
