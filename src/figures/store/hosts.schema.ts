import { cachedWith } from "../../lib/cached.js";
import { builder, enumValues } from "../../schema/builder.js";
import { firstArg, pageSize } from "../../schema/connections.js";
import { selectsAny } from "../../schema/selection.js";
import { Host } from "../../shows/liveStream.schema.js";
import { decimalsOfStore } from "../../stores/store.currency.js";
import {
  figuresOfHost,
  type HostFigures as HostFiguresValue,
  type HostOrder as HostOrderValue,
  rankHosts,
  readHosts,
} from "./hosts.js";
import { StoreAnalytics } from "./storeAnalytics.schema.js";

const hostsFirst = 10;

const HostOrder = builder.enumType("HostOrder", {
  description: "Which figure orders hosts: the highest first, unknown ones last, then by e-mail address.",
  values: enumValues<HostOrderValue>({
    SALES_PER_HOUR: "By sales for each hour.",
    NET_SALES_PER_HOUR: "By net sales for each hour.",
    ORDERS_PER_HOUR: "By orders for each hour.",
    VIEWERS_PER_HOUR: "By new viewers for each hour.",
    HOURS: "By how long they presented.",
  }),
});

const unknownIfRemoved = "null if events of that time, or of the rest of such a show, were removed";

const HostFigures = builder.objectRef<HostFiguresValue>("HostFigures").implement({
  description:
    "What happened while somebody presented: in HOST moments, and in all else of the shows whose host it is, also after them.",
  fields: (t) => ({
    host: t.field({
      type: Host,
      description: "Who it is, as the latest moment or show has it. Hosts with equal e-mail addresses are one.",
      resolve: ({ host }) => host,
    }),
    hours: t.exposeFloat("hours", { description: "How long they presented, rounded to 2 decimals." }),
    sales: t.exposeFloat("sales", { description: "Amounts of orders, in the currency of the store." }),
    netSales: t.exposeFloat("netSales", { nullable: true, description: `Sales less refunds; ${unknownIfRemoved}.` }),
    orders: t.exposeInt("orders", { description: "How many orders there were." }),
    viewers: t.exposeInt("viewers", {
      nullable: true,
      description: `Viewers who came while they presented, each once for a show; ${unknownIfRemoved}.`,
    }),
    salesPerHour: t.exposeFloat("salesPerHour", { description: "Sales for each hour; 0 without hours." }),
    netSalesPerHour: t.exposeFloat("netSalesPerHour", {
      nullable: true,
      description: "Net sales for each hour; 0 without hours, null if they are unknown.",
    }),
    ordersPerHour: t.exposeFloat("ordersPerHour", {
      description: "Orders for each hour, rounded to 2 decimals; 0 without hours.",
    }),
    viewersPerHour: t.exposeFloat("viewersPerHour", {
      nullable: true,
      description: "Viewers for each hour, rounded to 2 decimals; 0 without hours, null if they are unknown.",
    }),
  }),
});

/** Figures that minutes lack. */
const selectsOfEvents = selectsAny(() => new Set(["netSales", "netSalesPerHour", "viewers", "viewersPerHour"]));

builder.objectField(StoreAnalytics, "hosts", (t) =>
  t.field({
    type: [HostFigures],
    description:
      "Who presented the shows that started in this time, the highest figure first, then by e-mail address. With what has no host, they add up to the store.",
    args: {
      ...firstArg(hostsFirst),
      by: t.arg({ type: HostOrder, defaultValue: "SALES_PER_HOUR", description: "Which figure." }),
    },
    resolve: async (analytics, { first, by }, { db }, info) => {
      const { storeId, range } = analytics;
      const size = pageSize(first, hostsFirst);
      const isOfMinutes = !selectsOfEvents(info) && by !== "NET_SALES_PER_HOUR" && by !== "VIEWERS_PER_HOUR";
      const read = () => readHosts(db, storeId, range, isOfMinutes);
      const hosts = rankHosts(await cachedWith(analytics, `hosts ${isOfMinutes}`, read), by).slice(0, size);
      const decimals = await decimalsOfStore(db, storeId);
      return hosts.map((sums) => figuresOfHost(sums, decimals));
    },
  }),
);
