import { parseDateTime } from "../../lib/dateTime.js";
import { builder } from "../../schema/builder.js";
import { connectionType, decodeCursor, encodeCursor, pageSize } from "../../schema/connections.js";
import { errorAt } from "../../errors.js";
import type { LiveStream as LiveStreamRow } from "../../generated/prisma/client.js";
import { findLiveStream, hostOf, liveStreamStatuses, timesOf } from "./liveStream.js";
import { deleteLiveStream, type LiveStreamDeletion as LiveStreamDeletionValue } from "./liveStream.delete.js";
import { countLiveStreams, type LiveStreamPosition, listLiveStreams } from "./liveStream.list.js";
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

const shows = connectionType(
  "LiveStream",
  LiveStream,
  ({ status, startedAt, id }: LiveStreamRow) =>
    encodeCursor(startedAt.toISOString(), id, ...(status === scheduled ? [scheduled] : [])),
  true,
);

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
    description: "The store's shows, newest first; after all others, those that are scheduled, the next one first.",
    args: {
      first: t.arg.int({ required: false, description: "Size of the page: 0 to 100, 20 if not given." }),
      after: t.arg.string({ required: false, description: "Cursor of the node after which the page begins." }),
      status: t.arg({ type: LiveStreamStatus, required: false }),
      search: t.arg.string({
        required: false,
        description: "Words that the name or the id contains, in any case: all of them, at most 8.",
      }),
    },
    resolve: async (_, { first, after, status, search }, { db, identity: { storeId } }) => {
      const page = { first: pageSize(first), after: showCursor(after), status, search };
      const count = () => countLiveStreams(db, storeId, { status, search });
      return shows.connect(await listLiveStreams(db, storeId, page), after, count);
    },
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

function showCursor(after: string | null | undefined): LiveStreamPosition | undefined {
  const [time, id, status] = decodeCursor(after, 2, 3) ?? [];
  if (time === undefined || id === undefined) return undefined;
  const startedAt = parseDateTime(time);
  const isScheduled = status === scheduled;
  if (startedAt !== undefined && (isScheduled || status === undefined)) return { startedAt, id, isScheduled };
  throw errorAt("VALIDATION_FAILED", "after must be a cursor of this list.", ["after"]);
}
