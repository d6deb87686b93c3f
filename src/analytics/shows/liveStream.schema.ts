import { parseDateTime } from "../../lib/dateTime.js";
import { builder } from "../../schema/builder.js";
import { connectionType, decodeCursor, encodeCursor, pageSize } from "../../schema/connections.js";
import { errorAt } from "../../errors.js";
import type { LiveStream as LiveStreamRow } from "../../generated/prisma/client.js";
import { findLiveStream, hostOf, liveStreamStatuses, timesOf } from "./liveStream.js";
import { listLiveStreams } from "./liveStream.list.js";
import { saveLiveStream } from "./liveStream.save.js";

export const LiveStreamStatus = builder.enumType("LiveStreamStatus", {
  description: "LIVE while it runs; then ENDED, then ARCHIVED, and never back.",
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
      description: "Start plus duration; null while the show is live.",
      resolve: (show) => timesOf(show).endedAt,
    }),
    durationSeconds: t.int({
      description: "Of a live show: the seconds since its start.",
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
    startedAt: t.field({ type: "DateTime" }),
    durationSeconds: t.int({ required: false, description: "Required unless the show is live." }),
    host: t.field({ type: HostInput, required: false }),
  }),
});

const shows = connectionType("LiveStream", LiveStream, ({ startedAt, id }: LiveStreamRow) =>
  encodeCursor(startedAt.toISOString(), id),
);

builder.queryFields((t) => ({
  liveStream: t.field({
    type: LiveStream,
    nullable: true,
    description: "One show.",
    args: { lsId: t.arg.string() },
    resolve: (_, { lsId }, { db, identity }) => findLiveStream(db, identity.storeId, lsId),
  }),
  liveStreams: t.field({
    type: shows.type,
    description: "The store's shows, newest first.",
    args: {
      first: t.arg.int({ required: false, description: "Size of the page: 0 to 100, 20 if not given." }),
      after: t.arg.string({ required: false, description: "Cursor of the node after which the page begins." }),
      status: t.arg({ type: LiveStreamStatus, required: false }),
    },
    resolve: async (_, { first, after, status }, { db, identity }) => {
      const page = { first: pageSize(first), after: showCursor(after), status };
      return shows.connect(await listLiveStreams(db, identity.storeId, page), after);
    },
  }),
}));

builder.mutationFields((t) => ({
  saveLiveStream: t.field({
    type: LiveStream,
    description: "Creates a show, or changes the one with this id.",
    args: { liveStream: t.arg({ type: LiveStreamInput }) },
    resolve: async (_, { liveStream }, { db, identity, feed }) => {
      const saved = await saveLiveStream(db, identity.storeId, liveStream);
      feed.changed(identity.storeId, saved.id);
      return saved;
    },
  }),
}));

function showCursor(after: string | null | undefined): { startedAt: Date; id: string } | undefined {
  const [time, id] = decodeCursor(after, 2) ?? [];
  if (time === undefined || id === undefined) return undefined;
  const startedAt = parseDateTime(time);
  if (startedAt !== undefined) return { startedAt, id };
  throw errorAt("VALIDATION_FAILED", "after must be a cursor of this list.", ["after"]);
}
