import { lookUpProduct } from "../../catalog/product/product.lookup.js";
import { productOfCatalog } from "../../catalog/product/product.schema.js";
import { builder, enumValues } from "../../schema/builder.js";
import { hostOf } from "../liveStream.js";
import { Host, HostInput, lsId } from "../liveStream.schema.js";
import type { Moment as MomentValue, MomentKind as MomentKindValue } from "./moments.js";
import { deleteMoment, saveMoments } from "./moments.save.js";

export const MomentKind = builder.enumType("MomentKind", {
  description: "What a moment of a show is. Moments of one kind do not overlap: a later one ends an earlier one.",
  values: enumValues<MomentKindValue>({
    PIN: "A product was shown.",
    HOST: "Somebody presented.",
    SEGMENT: "A part of the show.",
    MARKER: "Anything else, such as a coupon code that was read out.",
  }),
});

export const Moment = builder.objectRef<MomentValue>("Moment").implement({
  description: "Something that happened in a show from one second until another.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Unique within the show, as it was saved." }),
    kind: t.expose("kind", { type: MomentKind, description: "What it is." }),
    startedAt: t.expose("startedAt", { type: "DateTime", description: "When it started, to the second." }),
    endedAt: t.expose("endedAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When it ended, exclusive: as it was saved, or earlier if another one of its kind started. If it was saved without, the end of the show; null until then.",
    }),
    productId: t.exposeID("productId", { nullable: true, description: "The product that was shown, if any." }),
    product: t.field({
      ...productOfCatalog,
      resolve: ({ productId }, _, { db, identity }) =>
        productId === null ? null : lookUpProduct(db, identity.storeId, productId),
    }),
    host: t.field({
      type: Host,
      nullable: true,
      description: "Who presented; null if nobody is named.",
      resolve: hostOf,
    }),
    title: t.exposeString("title", { nullable: true, description: "What people call it; null if nothing was given." }),
  }),
});

const MomentInput = builder.inputType("MomentInput", {
  description: "A moment to create, or to put in place of the one with its id. Fractions of seconds are cut.",
  fields: (t) => ({
    id: t.string({ description: "Unique within the show: at most 255 characters." }),
    kind: t.field({ type: MomentKind, description: "A PIN needs a productId, a HOST a host." }),
    startedAt: t.field({
      type: "DateTime",
      description:
        "From a day before the start of the show to a day after its end; until it ends, to a day after now, or after its start if that is later.",
    }),
    endedAt: t.field({
      type: "DateTime",
      required: false,
      description: "Exclusive. If left out, it lasts to the next moment of its kind, or to the end of the show.",
    }),
    productId: t.string({ required: false, description: "Reference id of the product that is shown." }),
    host: t.field({ type: HostInput, required: false, description: "Who presents." }),
    title: t.string({ required: false, description: "What people call it: at most 1,000 characters." }),
  }),
});

const MomentReceipt = builder.objectRef<Awaited<ReturnType<typeof saveMoments>>>("MomentReceipt").implement({
  description: "The result of saving moments.",
  fields: (t) => ({
    accepted: t.exposeInt("accepted", { description: "Moments that were saved." }),
    created: t.exposeInt("created", { description: "Those of them whose id is new." }),
    replaced: t.exposeInt("replaced", { description: "Those of them that replaced a moment with the same id." }),
  }),
});

const MomentDeletion = builder.objectRef<Awaited<ReturnType<typeof deleteMoment>>>("MomentDeletion").implement({
  description: "Confirms a deletion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the deleted moment, so that caches can evict it." }),
    message: t.exposeString("message", { description: "What was done, in a sentence for people." }),
  }),
});

builder.mutationFields((t) => ({
  saveMoments: t.field({
    extensions: { scope: "shows:write" },
    type: MomentReceipt,
    nullable: true,
    description: "Saves moments of a show, which has at most 2,000: all of them, or none.",
    args: {
      lsId: t.arg.string(lsId),
      moments: t.arg({ type: [MomentInput], description: "In any order." }),
    },
    resolve: async (_, { lsId: show, moments }, { db, identity, feed, sent }) => {
      const receipt = await saveMoments(db, identity.storeId, show, moments, sent.requireState);
      feed.changed(identity.storeId, show);
      return receipt;
    },
  }),
  deleteMoment: t.field({
    extensions: { scope: "shows:write" },
    type: MomentDeletion,
    nullable: true,
    description: "Deletes a moment. One that it ended earlier lasts as long as it was saved again.",
    args: { lsId: t.arg.string(lsId), id: t.arg.string({ description: "The id of the moment." }) },
    resolve: async (_, { lsId: show, id }, { db, identity, feed }) => {
      const deletion = await deleteMoment(db, identity.storeId, show, id);
      feed.changed(identity.storeId, show);
      return deletion;
    },
  }),
}));
