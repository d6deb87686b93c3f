import { createHmac } from "node:crypto";
import { setStore } from "../../../src/stores/store.js";
import { addHook } from "../../../src/orders/hooks/hook.js";
import type { TestApp, TestStore } from "../app.js";

/** People of the payloads: nothing of them may be stored or logged. */
export const people = [
  "Zelda Quackenbush",
  "zelda.quackenbush@mail.example",
  "Quackenbush",
  "17 Peppermint Lane",
  "Snowdrop Falls",
  "+49 151 2345678",
  "203.0.113.77",
];

const person = {
  name: people[0],
  first_name: "Zelda",
  last_name: people[2],
  address1: people[3],
  city: people[4],
  phone: people[5],
};

/** An order of Shopify, in the shape of its documentation. */
export function shopifyOrder(id: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: `#${id}`,
    admin_graphql_api_id: `gid://shopify/Order/${id}`,
    browser_ip: people[6],
    cancelled_at: null,
    contact_email: people[1],
    created_at: "2026-05-04T21:00:00+02:00",
    currency: "EUR",
    current_total_price: "120.50",
    email: people[1],
    financial_status: "paid",
    name: "#1001",
    note_attributes: [],
    processed_at: "2026-05-04T21:00:00+02:00",
    test: false,
    total_price: "120.50",
    updated_at: "2026-05-04T21:00:05+02:00",
    billing_address: person,
    customer: { id: 115310627314723950, email: people[1], ...person },
    line_items: [
      {
        id: 866550311766439000,
        product_id: 788032119674292900,
        variant_id: 642667041472713900,
        sku: "shirt-m",
        title: "Shirt",
        price: "55.00",
        quantity: 2,
        total_discount: "0.00",
        discount_allocations: [{ amount: "10.00" }],
      },
    ],
    refunds: [],
    shipping_address: person,
    ...fields,
  };
}

export const shopifyRefund = (id: string, orderId: string, amount: string) => ({
  id: `#${id}`,
  order_id: `#${orderId}`,
  created_at: "2026-05-06T10:00:00+02:00",
  processed_at: "2026-05-06T10:00:00+02:00",
  note: people[0],
  refund_line_items: [],
  transactions: [
    { id: 1, kind: "refund", status: "failure", amount }, // tried again
    { id: 2, kind: "refund", status: "success", amount },
  ],
});

/** An order of WooCommerce, in the shape of its documentation. */
export function woocommerceOrder(id: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    number: String(id),
    status: "processing",
    currency: "EUR",
    date_created: "2026-05-04T21:00:00",
    date_created_gmt: "2026-05-04T19:00:00",
    date_modified_gmt: "2026-05-04T19:00:05",
    date_paid_gmt: "2026-05-04T19:00:04",
    total: "29.35",
    customer_ip_address: people[6],
    billing: { ...person, email: people[1] },
    shipping: person,
    meta_data: [{ id: 1, key: "_wc_order_attribution_source_type", value: "typein" }],
    line_items: [
      { id: 315, name: "Woo Album", product_id: 93, sku: "album", quantity: 2, total: "12.00", total_tax: "2.28" },
    ],
    refunds: [],
    ...fields,
  };
}

/** As shops' systems write them: ids are numbers that JavaScript cannot hold. */
export function payloadOf(value: object): string {
  return JSON.stringify(value).replaceAll(/"#(\d+)"/gu, "$1");
}

type System = "shopify" | "woocommerce";

export async function hookOf(app: TestApp, { id: store }: TestStore, from: System, secret = "a secret") {
  await setStore(app.db, store, { currency: "EUR" });
  const hook = await addHook(app.db, store, { from, secret });
  const send = (body: string, headers: Record<string, string>) =>
    fetch(`${app.url}${hook.path}`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
  const deliver = (topic: string, value: object | string, more: Record<string, string> = {}) => {
    const body = typeof value === "string" ? value : payloadOf(value);
    const signature = createHmac("sha256", secret).update(body).digest("base64");
    const headers =
      from === "shopify"
        ? { "x-shopify-topic": topic, "x-shopify-hmac-sha256": signature }
        : { "x-wc-webhook-topic": topic, "x-wc-webhook-signature": signature };
    return send(body, { ...headers, ...more });
  };
  return { ...hook, send, deliver };
}
