/** A product as imports take it: quotes and commas in its texts, two images. */
export type Product = ReturnType<typeof makeProduct>;

export const productsStored = 10_000;
export const batchSize = 1_000;

export function makeProduct(index: number) {
  return {
    id: `p-${index}`,
    sku: skuOf(index),
    title: `Shirt ${index}, "Summer"`,
    description: `Product ${index}: what it is made of, how to wash it.`,
    price: (index % 1_000) / 10,
    price_min: 1.5,
    price_max: 200 + (index % 10),
    available: true,
    images: [`https://cdn.example.com/${index}-1.jpg`, `https://cdn.example.com/${index}-2.jpg`],
    featured_image: `https://cdn.example.com/${index}.jpg`,
    url: `https://shop.example.com/products/${index}`,
  };
}

/** A thousand products, all different from those of other batches. */
export function makeBatch(batch: number): Product[] {
  return Array.from({ length: batchSize }, (_, index) => makeProduct(batch * batchSize + index));
}

/** Every stored product once, far from in order; each seventh by its sku. The same for every server. */
export function productReferences(): string[] {
  return Array.from({ length: productsStored }, (_, index) => {
    const product = (index * 7_919) % productsStored;
    return index % 7 === 0 ? skuOf(product) : `p-${product}`;
  });
}

function skuOf(index: number): string {
  return `SKU-${String(index).padStart(8, "0")}`;
}
