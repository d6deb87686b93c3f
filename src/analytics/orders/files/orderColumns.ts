/** The columns of an order export, by the names of their headers in lower case, without other characters than letters and digits. */
const orderColumns = {
  id: ["id", "orderid", "order", "ordernumber", "ordernr"],
  name: ["name"],
  placedAt: ["createdat", "orderdate", "datecreated", "dategmt", "date"],
  amount: ["total", "ordertotal", "ordertotalamount", "nrevenue", "netrevenue"],
  currency: ["currency", "ordercurrency"],
  status: ["financialstatus", "status", "orderstatus"],
  cancelledAt: ["cancelledat"],
  refunded: ["refundedamount", "orderrefundamount", "refunded"],
  notes: ["noteattributes", "customernote"],
  viewer: ["vitrineviewer", "metavitrineviewer"],
  sku: ["lineitemsku", "sku", "itemsku", "productsku"],
  lineName: ["lineitemname", "itemname", "productname"],
  quantity: ["lineitemquantity", "quantity", "itemquantity", "qty"],
  price: ["lineitemprice", "itemcost", "itemprice"],
} as const;

export type OrderColumn = keyof typeof orderColumns;

/** Where each column is in a header; of several names the first that is there. */
export function columnsOf(header: readonly string[]): Partial<Record<OrderColumn, number>> {
  const names = header.map((name) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ""));
  const found: Partial<Record<OrderColumn, number>> = {};
  for (const [column, aliases] of Object.entries(orderColumns) as [OrderColumn, readonly string[]][]) {
    const at = aliases.map((alias) => names.indexOf(alias)).find((index) => index !== -1);
    if (at !== undefined) found[column] = at;
  }
  return found;
}
