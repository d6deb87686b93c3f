import { builder, enumValues } from "../schema/builder.js";
import { findLiveStream, hostOf, type LiveStreamStatus as LiveStreamStatusValue, timesOf } from "./liveStream.js";
import { deleteLiveStream, type LiveStreamDeletion as LiveStreamDeletionValue } from "./liveStream.delete.js";
import { saveLiveStream } from "./liveStream.save.js";

export const LiveStreamStatus = builder.enumType("LiveStreamStatus", {
  description: "The state of a show. It only moves forward, in this order; steps may be skipped.",
  values: enumValues<LiveStreamStatusValue>({
    SCHEDULED: "It starts in the future, and takes no events before. Its first event after the start makes it live.",
    LIVE: "It runs, and takes events.",
    ENDED: "It is over, but takes events of replays and referrals.",
    ARCHIVED: "It takes no more events, except refunds.",
  }),
});

export const Host = builder.objectRef<{ name: string; email: string }>("Host").implement({
  description: "Who presents a show.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "The name that viewers see." }),
    email: t.exposeString("email", { description: "The e-mail address of the host." }),
  }),
});

export const LiveStream = builder.prismaObject("LiveStream", {
  description: "A live shopping show.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Unique within the store, as it was saved." }),
    name: t.exposeString("name", { description: "The name of the show." }),
    status: t.field({
      type: LiveStreamStatus,
      description: "The state in which it was last saved.",
      resolve: ({ status }) => status as LiveStreamStatusValue,
    }),
    startedAt: t.field({
      type: "DateTime",
      description: "When it started; for a scheduled show, when it is planned to start.",
      resolve: ({ startedAt }) => startedAt,
    }),
    endedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Start plus duration; null until the show has ended.",
      resolve: (show) => timesOf(show).endedAt,
    }),
    durationSeconds: t.int({
      description: "In whole seconds. For a live show, the time since its start; for a scheduled show, 0.",
      resolve: (show) => timesOf(show).durationSeconds,
    }),
    host: t.field({
      type: Host,
      nullable: true,
      description: "Who presents it; null if no host is named.",
      resolve: hostOf,
    }),
  }),
});

export const HostInput = builder.inputType("HostInput", {
  description: "Who presents a show.",
  fields: (t) => ({
    name: t.string({ description: "At most 255 characters." }),
    email: t.string({ description: "An e-mail address of at most 255 characters." }),
  }),
});

const LiveStreamInput = builder.inputType("LiveStreamInput", {
  description: "A show to create or to change.",
  fields: (t) => ({
    id: t.string({ description: "Unique within the store: at most 255 characters." }),
    name: t.string({ description: "At most 1,000 characters." }),
    status: t.field({
      type: LiveStreamStatus,
      description: "The present status or a later one, or LIVE again for an ENDED show.",
    }),
    startedAt: t.field({
      type: "DateTime",
      description: "Must be in the future for a scheduled show, and must not be for a live one.",
    }),
    durationSeconds: t.int({
      required: false,
      description: "In seconds, up to 366 days. Required unless the show is scheduled or live.",
    }),
    host: t.field({ type: HostInput, required: false, description: "Null or left out: no host." }),
  }),
});

export const lsId = { description: "The id of a show." };

builder.queryFields((t) => ({
  liveStream: t.field({
    extensions: { scope: "analytics:read" },
    type: LiveStream,
    nullable: true,
    description: "One show, by its id.",
    args: { lsId: t.arg.string(lsId) },
    resolve: (_, args, { db, identity }) => findLiveStream(db, identity.storeId, args.lsId),
  }),
}));

const LiveStreamDeletion = builder.objectRef<LiveStreamDeletionValue>("LiveStreamDeletion").implement({
  description: "Confirms a deletion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the deleted show, so that caches can evict it." }),
    message: t.exposeString("message", { description: "What was done, in a sentence for people." }),
    events: t.exposeInt("events", { description: "Events that were deleted with the show." }),
  }),
});

builder.mutationFields((t) => ({
  saveLiveStream: t.field({
    extensions: { scope: "shows:write" },
    type: LiveStream,
    nullable: true,
    description: "Creates a show, or changes the one with this id.",
    args: { liveStream: t.arg({ type: LiveStreamInput, description: "The whole show." }) },
    resolve: async (_, { liveStream }, { db, identity, feed, sent }) => {
      const saved = await saveLiveStream(db, identity.storeId, liveStream, sent.requireState);
      feed.changed(identity.storeId, saved.id);
      return saved;
    },
  }),
  deleteLiveStream: t.field({
    extensions: { scope: "shows:write" },
    type: LiveStreamDeletion,
    nullable: true,
    description: "Deletes a show. Its subscriptions end with LIVE_STREAM_NOT_FOUND.",
    args: {
      lsId: t.arg.string(lsId),
      force: t.arg.boolean({
        required: false,
        defaultValue: false,
        description: "Deletes a show even if it has events, together with them.",
      }),
    },
    resolve: async (_, { lsId: id, force }, { db, identity, feed }) => {
      const deletion = await deleteLiveStream(db, identity.storeId, id, { force: force === true });
      feed.changed(identity.storeId, id);
      return deletion;
    },
  }),
}));
