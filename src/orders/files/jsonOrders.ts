import type { FileHandle } from "node:fs/promises";
import { notJson } from "../../lib/json/parseJson.js";
import { checkCurrency } from "../../events/events.input.js";
import { readLines } from "../../events/files/ndjson.js";
import { type Json, listOf, parsePayload, PayloadError, textMember } from "../hooks/payload.js";
import { stateOfShopify } from "../hooks/shopify.js";
import { stateOfWoocommerce } from "../hooks/woocommerce.js";
import type { FileOrder } from "./readOrder.js";
import { faultAt, readObject } from "./orderLines.js";

/** As much as a delivery of a hook. */
const lineBytesMax = 4 * 1_048_576;
const dividedMax = 2_000_000;

/** What reading orders of a file needs. */
interface Reading {
  /** The store's. */
  readonly currency: string | null;
  /** Ids of orders that marketplaces divided. A file may list them after their parts. */
  readonly divided: Set<string>;
}

/** One order on each line: as recordOrders takes it, or as the REST API of Shopify or WooCommerce lists it. */
export function openJson(handle: FileHandle, currency: string | null) {
  const reading = { currency, divided: new Set<string>() };
  return { read: () => readJsonLines(handle, reading) };
}

async function* readJsonLines(handle: FileHandle, reading: Reading): AsyncGenerator<FileOrder, void> {
  const { size } = await handle.stat();
  for await (const { lines } of readLines(handle, size, lineBytesMax)) {
    for (const { text, number, fault } of lines) {
      if (fault !== undefined) throw faultAt(number, "The line is too long, or not UTF-8.");
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        throw faultAt(number, notJson(text));
      }
      yield readOrder(value, text, number, reading);
    }
  }
}

interface ShopSystem {
  readonly name: string;
  readonly stateOf: typeof stateOfShopify;
  /** Members that only its orders have. */
  readonly marks: readonly string[];
  /** Without one of these, an order would count for a wrong amount. */
  readonly needed: readonly string[];
  readonly ofLines: readonly string[];
  readonly ofRefunds: readonly string[];
  readonly number: string;
  readonly status: string;
}

const systems: readonly ShopSystem[] = [
  {
    name: "Shopify",
    stateOf: stateOfShopify,
    marks: ["total_price", "current_total_price", "financial_status", "admin_graphql_api_id"],
    needed: ["id", "financial_status", "currency", "total_price", "current_total_price", "updated_at", "cancelled_at"],
    ofLines: ["price", "quantity"],
    ofRefunds: ["id", "transactions"],
    number: "name",
    status: "financial_status",
  },
  {
    name: "WooCommerce",
    stateOf: stateOfWoocommerce,
    marks: ["date_created_gmt", "date_modified_gmt", "date_paid_gmt", "created_via"],
    needed: ["id", "status", "currency", "total", "date_created_gmt", "date_modified_gmt"],
    ofLines: ["quantity", "total", "total_tax"],
    ofRefunds: ["id", "total"],
    number: "number",
    status: "status",
  },
];
const ofCall = ["placedAt", "amount"];

function readOrder(value: unknown, text: string, line: number, reading: Reading): FileOrder {
  const has = (name: string) => typeof value === "object" && value !== null && Object.hasOwn(value, name);
  if (ofCall.some(has)) return { order: readObject(value, line), line, name: "", faults: [] };
  const system = systems.find(({ marks }) => marks.some(has));
  if (system !== undefined) return readShopOrder(system, text, line, reading);
  throw faultAt(
    line,
    "The line is neither an order for recordOrders (id, placedAt, amount) nor one of the REST API of WooCommerce (wc/v3) or Shopify: " +
      "write one of their orders on each line.",
  );
}

/** A state of the order, as a hook delivers it. */
function readShopOrder(system: ShopSystem, text: string, line: number, { currency, divided }: Reading): FileOrder {
  const faults: string[] = [];
  try {
    const payload = parsePayload(text);
    requireMembers(payload, system, line);
    const read = system.stateOf(payload, (fault) => faults.push(fault));
    checkCurrency(read.currency?.toUpperCase(), currency, (_, __, message) => {
      throw faultAt(line, message);
    });
    const { id, placedAt, amount, parentId = "" } = read;
    if (read.hasParts === true && divided.size < dividedMax) divided.add(id);
    const state = divided.has(parentId) ? { ...read, isPart: true } : read;
    const shop = { state, status: textMember(payload, system.status) ?? "(none)" };
    return { order: { id, placedAt, amount }, line, name: textMember(payload, system.number) ?? "", faults, shop };
  } catch (error) {
    throw error instanceof PayloadError ? faultAt(line, error.message) : error;
  }
}

/** Lists can be fetched without some members. Missing ones are not guessed. */
function requireMembers(order: Json, system: ShopSystem, line: number): void {
  const { name, needed, ofLines, ofRefunds } = system;
  const missing = [
    ...needed.filter((member) => !Object.hasOwn(order, member)),
    ...missingOf(order, "line_items", ofLines),
    ...missingOf(order, "refunds", ofRefunds),
    ...missingTogether(order),
  ];
  if (missing.length === 0) return;
  throw faultAt(line, `The order of ${name} lacks ${missing.join(", ")}: fetch the list with all members of an order.`);
}

function missingOf(order: Json, list: string, members: readonly string[]): readonly string[] {
  if (!Object.hasOwn(order, list)) return [list];
  const items = listOf(order, list);
  return members
    .filter((member) => items.some((item) => !Object.hasOwn(item, member)))
    .map((name) => `${list}.${name}`);
}

/** Members that say whether an order is a part of another one, and whether prices include the lines' taxes. */
function missingTogether(order: Json): readonly string[] {
  const family = ["parent_id", "created_via", "meta_data", "date_paid_gmt"];
  const isOfFamily = family.slice(0, 2).some((member) => Object.hasOwn(order, member));
  const hasTaxes = listOf(order, "line_items").some((line) => listOf(line, "tax_lines").length > 0);
  return [...(isOfFamily ? family : []), ...(hasTaxes ? ["taxes_included"] : [])].filter(
    (member) => !Object.hasOwn(order, member),
  );
}
