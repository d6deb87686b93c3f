import { builder } from "../../schema/builder.js";
import { findLiveStream, hostOf, liveStreamStatuses, timesOf } from "./liveStream.js";
import { deleteLiveStream, type LiveStreamDeletion as LiveStreamDeletionValue } from "./liveStream.delete.js";
import { saveLiveStream } from "./liveStream.save.js";

export const LiveStreamStatus = builder.enumType("LiveStreamStatus", {
  description: "SCHEDULED before it starts, LIVE while it runs, then ENDED, then ARCHIVED; never back.",
  values: liveStreamStatuses,
});

export const Host = builder.objectRef<{ name: string; email: string }>("Host").implement({
  description: "Who presents a show.",
  fields: (t) => ({ name: t.exposeString("name"), email: t.exposeString("email") }),
});

export const LiveStream = builder.prismaObject("LiveStream", {
  description: "A live shopping show.",
  fields: (t) => ({
    id: t.exposeID("id"),
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

builder.queryFields((t) => ({
  liveStream: t.field({
    authScopes: { "analytics:read": true },
    type: LiveStream,
    nullable: true,
    description: "One show.",
    args: { lsId: t.arg.string() },
    resolve: (_, { lsId }, { db, identity }) => findLiveStream(db, identity.storeId, lsId),
  }),
}));

const LiveStreamDeletion = builder.objectRef<LiveStreamDeletionValue>("LiveStreamDeletion").implement({
  description: "Confirms a deletion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Id of the show that is gone, for caches to evict it." }),
    message: t.exposeString("message"),
    events: t.exposeInt("events", { description: "Events that were deleted with the show." }),
  }),
});

builder.mutationFields((t) => ({
  saveLiveStream: t.field({
    authScopes: { "shows:write": true },
    type: LiveStream,
    nullable: true,
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
    nullable: true,
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
