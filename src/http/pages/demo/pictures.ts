/** Shapes of products, in a square of 64. */
const shapes: Readonly<Record<string, string>> = {
  "linen-shirt": "M22 12l-12 7 5 11 6-3v26h22V27l6 3 5-11-12-7c-3 5-17 5-20 0z",
  "denim-jacket": "M22 11l-12 8 3 30h7V30v24h11V18l1-3 1 3v36h11V30v19h7l3-30-12-8-10 6z",
  "wool-scarf": "M20 14c6-5 18-5 24 0l2 7c-2 4-5 6-9 7l3 26h-9l-3-25c-5-1-8-4-9-8zM24 32l-3 22h-7l5-26z",
  "silk-dress": "M25 9v8l-3 6 4 9-11 23h34L38 32l4-9-3-6V9h-3v7c-2 2-6 2-8 0V9z",
  "tote-bag": "M14 25h8v-4c0-14 20-14 20 0v4h8l3 31H11zm12 0h12v-4c0-8-12-8-12 0z",
  sunglasses: "M8 26h20c3-2 5-2 8 0h20v5c0 14-17 14-19 3-1-4-9-4-10 0-2 11-19 11-19-3z",
};
const other = "M16 16h32v32H16z";

/** A drawing of a product: its photos are on another host, and pages load nothing from there. */
export function pictureOf(productId: string): string {
  return `<svg viewBox="0 0 64 64" aria-hidden="true"><path d="${shapes[productId] ?? other}"/></svg>`;
}
