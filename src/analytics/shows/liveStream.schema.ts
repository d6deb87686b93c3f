import type { RootDatabase } from "../../database/client.js";
import { checkOpenRange } from "../insights/storeRange.js";
import { parseDateTime } from "../../lib/dateTime.js";
import { builder } from "../../schema/builder.js";
import type { Context } from "../../schema/context.js";
import { connectionType, decodeCursor, encodeCursor, pageSize } from "../../schema/connections.js";
import { rateLimitedByRoot } from "../../schema/rateLimit.js";
import { cursorOfOtherOrder, SortDirection, type SortOrder, sortPosition } from "../../schema/sortOrder.js";
import { errorAt } from "../../errors.js";
import type { LiveStream as LiveStreamRow } from "../../generated/prisma/client.js";
import { findLiveStream, hostOf, liveStreamStatuses, timesOf } from "./liveStream.js";
import { deleteLiveStream, type LiveStreamDeletion as LiveStreamDeletionValue } from "./liveStream.delete.js";
import {
  countLiveStreams,
  type LiveStreamFilter,
  type LiveStreamPosition,
  listLiveStreams,
} from "./liveStream.list.js";
import {
  isByTotals,
  isSortValue,
  listOrderedLiveStreams,
  type LiveStreamOrder as LiveStreamOrderValue,
  liveStreamOrders,
} from "./liveStream.order.js";
import { saveLiveStream } from "./liveStream.save.js";

export const LiveStreamStatus = builder.enumType("LiveStreamStatus", {
  description: "SCHEDULED before it starts, LIVE while it runs, then ENDED, then ARCHIVED; never back.",
  values: liveStreamStatuses,
});

export const Host = builder.objectRef<{ name: string; email: string }>("Host").implement({
  description: "Who presents a show.",
  fields: (t) => ({ name: t.exposeString("name"), email: t.exposeString("email") }),
});

const LiveStream = builder.prismaObject("LiveStream", {
  description: "A live shopping show.",
  fields: (t) => ({
    id: t.exposeString("id"),
    name: t.exposeString("name"),
    status: t.field({ type: LiveStreamStatus, resolve: ({ status }) => status as (typeof liveStreamStatuses)[number] }),
    startedAt: t.field({ type: "DateTime", resolve: ({ startedAt }) => startedAt }),
    endedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Start plus duration; null until the show has ended.",
      resolve: (show) => timesOf(show).endedAt,
    }),
    durationSeconds: t.int({
      description: "Of a live show: the seconds since its start. Of a scheduled show: 0.",
      resolve: (show) => timesOf(show).durationSeconds,
    }),
    host: t.field({ type: Host, nullable: true, resolve: hostOf }),
  }),
});

const HostInput = builder.inputType("HostInput", {
  fields: (t) => ({ name: t.string(), email: t.string() }),
});

const LiveStreamInput = builder.inputType("LiveStreamInput", {
  description: "A show to create or to change.",
  fields: (t) => ({
    id: t.string({ description: "At most 255 characters." }),
    name: t.string({ description: "At most 1,000 characters." }),
    status: t.field({ type: LiveStreamStatus }),
    startedAt: t.field({
      type: "DateTime",
      description: "In the future for a show that is scheduled, and not in the future for one that is live.",
    }),
    durationSeconds: t.int({ required: false, description: "Required unless the show is scheduled or live." }),
    host: t.field({ type: HostInput, required: false }),
  }),
});

const scheduled: LiveStreamRow["status"] = "SCHEDULED";

const LiveStreamDeletion = builder.objectRef<LiveStreamDeletionValue>("LiveStreamDeletion").implement({
  description: "Confirms a deletion.",
  fields: (t) => ({
    message: t.exposeString("message"),
    events: t.exposeInt("events", { description: "Events that were deleted with the show." }),
  }),
});

/** A show with its place in the order that was asked for. */
interface ListedShow extends LiveStreamRow {
  readonly place?: readonly string[];
}

const shows = connectionType("LiveStream", LiveStream, ({ place, status, startedAt, id }: ListedShow) =>
  encodeCursor(...(place ?? [startedAt.toISOString(), id, ...(status === scheduled ? [scheduled] : [])])),
);

const LiveStreamOrder = builder.enumType("LiveStreamOrder", {
  description: "What a list of shows is ordered by. VIEWERS are those of both channels.",
  values: liveStreamOrders,
});

builder.queryFields((t) => ({
  liveStream: t.field({
    authScopes: { "analytics:read": true },
    type: LiveStream,
    nullable: true,
    description: "One show.",
    args: { lsId: t.arg.string() },
    resolve: (_, { lsId }, { db, identity }) => findLiveStream(db, identity.storeId, lsId),
  }),
  liveStreams: t.field({
    authScopes: { "analytics:read": true },
    type: shows.type,
    nullable: true,
    description:
      "The store's shows, newest first; after all others, those that are scheduled, the next one first. Any other order has no such exception; shows that are equal in it go by id, in its direction. By SALES, ORDERS or VIEWERS it is an analytics read.",
    args: {
      first: t.arg.int({ required: false, description: "Size of the page: 0 to 100, 20 if not given." }),
      after: t.arg.string({ required: false, description: "Cursor of the node after which the page begins." }),
      status: t.arg({ type: LiveStreamStatus, required: false }),
      search: t.arg.string({
        required: false,
        description: "Words that the name or the id contains, in any case: all of them, at most 8.",
      }),
      from: t.arg({ type: "DateTime", required: false, description: "Only shows that start at or after it." }),
      until: t.arg({ type: "DateTime", required: false, description: "Only shows that start before it." }),
      orderBy: t.arg({ type: LiveStreamOrder, defaultValue: "STARTED_AT" }),
      direction: t.arg({ type: SortDirection, required: false, description: "ASC for NAME, else DESC, if left out." }),
    },
    resolve: (parent, args, context, info) =>
      (isByTotals(args.orderBy) ? listByTotals : listShows)(parent, args, context, info),
  }),
}));

builder.mutationFields((t) => ({
  saveLiveStream: t.field({
    authScopes: { "shows:write": true },
    type: LiveStream,
    description: "Creates a show, or changes the one with this id.",
    args: { liveStream: t.arg({ type: LiveStreamInput }) },
    resolve: async (_, { liveStream }, { db, identity, feed }) => {
      const saved = await saveLiveStream(db, identity.storeId, liveStream);
      feed.changed(identity.storeId, saved.id);
      return saved;
    },
  }),
  deleteLiveStream: t.field({
    authScopes: { "shows:write": true },
    type: LiveStreamDeletion,
    description: "Deletes a show. Its subscriptions end with LIVE_STREAM_NOT_FOUND.",
    args: {
      lsId: t.arg.string(),
      force: t.arg.boolean({
        required: false,
        defaultValue: false,
        description: "Deletes a show that has events, and these with it.",
      }),
    },
    resolve: async (_, { lsId, force }, { db, identity, feed }) => {
      const deletion = await deleteLiveStream(db, identity.storeId, lsId, { force: force === true });
      feed.changed(identity.storeId, lsId);
      return deletion;
    },
  }),
}));

interface ShowListArgs extends LiveStreamFilter {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly orderBy: LiveStreamOrderValue;
  readonly direction?: "ASC" | "DESC" | null | undefined;
}

async function listShows(_: unknown, args: ShowListArgs, { db, identity: { storeId } }: Context) {
  const { first, after, status, search, orderBy } = args;
  const filter = { status, search, ...checkOpenRange(args.from, args.until) };
  const order = { orderBy, direction: args.direction ?? (orderBy === "NAME" ? "ASC" : "DESC") };
  const isNewestFirst = orderBy === "STARTED_AT" && order.direction === "DESC";
  const page = isNewestFirst
    ? await listLiveStreams(db, storeId, { ...filter, first: pageSize(first), after: showCursor(after) })
    : await listInOrder(db, storeId, order, { ...filter, first: pageSize(first), after });
  return shows.connect(page, after, (max) => countLiveStreams(db, storeId, filter, max));
}

/** One analytics read under the limit, with the figures of its nodes. */
const listByTotals = rateLimitedByRoot("analytics", listShows);

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
