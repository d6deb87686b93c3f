/** SVG paths of products, in a square of 64. */
const shapes: Readonly<Record<string, string>> = {
  "linen-shirt": "M22 12l-12 7 5 11 6-3v26h22V27l6 3 5-11-12-7c-3 5-17 5-20 0z",
  "denim-jacket": "M22 11l-12 8 3 30h7V30v24h11V18l1-3 1 3v36h11V30v19h7l3-30-12-8-10 6z",
  "wool-scarf": "M20 14c6-5 18-5 24 0l2 7c-2 4-5 6-9 7l3 26h-9l-3-25c-5-1-8-4-9-8zM24 32l-3 22h-7l5-26z",
  "silk-dress": "M25 9v8l-3 6 4 9-11 23h34L38 32l4-9-3-6V9h-3v7c-2 2-6 2-8 0V9z",
  "tote-bag": "M14 25h8v-4c0-14 20-14 20 0v4h8l3 31H11zm12 0h12v-4c0-8-12-8-12 0z",
  "leather-belt": "M6 26h14v-4h18v4h20v12H38v4H20v-4H6zm18 0v12h10V26zm18 4h3v4h-3zm7 0h3v4h-3z",
  "canvas-sneakers": "M10 20h13l4 8 16 6c8 2 12 5 12 10H10zm0 27h45v5H10z",
  "rain-coat": "M25 9h14l4 8 8 6-4 16-5-2v19H22V37l-5 2-4-16 8-6zm5 8-2 36h3V17z",
  "cotton-socks": "M26 8h18v24c0 6-3 8-8 11l-9 6c-8 5-17-6-8-12l7-5zm0 5v3h18v-3z",
  "straw-hat": "M20 36c0-24 24-24 24 0zm-16 3h56c0 12-56 12-56 0z",
  "knit-sweater": "M24 12h16l12 6 4 30h-9l-3-18v26H20V30l-3 18H8l4-30zm3 3c1 5 9 5 10 0zM20 48v3h24v-3z",
  sunglasses: "M8 26h20c3-2 5-2 8 0h20v5c0 14-17 14-19 3-1-4-9-4-10 0-2 11-19 11-19-3z",
};
const other = "M16 16h32v32H16z";

/** Ids of products that have a drawing. */
export const picturedIds: readonly string[] = Object.keys(shapes);

export const picturePath = (productId: string): string => `/demo/${productId}.svg`;

/** A drawing as a file, visible on light and dark pages. */
export function pictureFile(productId: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="#ece8ff"/><path fill="#5b3df5" fill-rule="evenodd" d="${shapes[productId] ?? other}"/></svg>`;
}

/** A drawing in the colors of the page. */
export function pictureOf(productId: string): string {
  return `<svg viewBox="0 0 64 64" aria-hidden="true"><path d="${shapes[productId] ?? other}"/></svg>`;
}
