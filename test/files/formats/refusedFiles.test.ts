import { expect, test } from "vitest";
import { csvOf, imageUrl, readFile, urlTemplate } from "../../support/catalog/formats.js";

test.each([
  ["WooCommerce in German", "Artikelnummer;Name;Veröffentlicht;Sichtbarkeit im Katalog;Bilder", "woocommerce", "price"],
  ["WooCommerce", "ID,Name,In stock?,Regular price", "woocommerce", "featured_image"],
  ["Shopify", "Handle,Title,Body (HTML),Image Src", "shopify", "price"],
  ["Magento", "sku,name,product_type,base_image", "magento", "price"],
  ["Google", "id,title,link,image_link,availability", "google", "price"],
  ["Wix", "handleId,fieldType,name,productImageUrl", "wix", "price"],
  ["Squarespace", "Product ID [Non Editable],Title,SKU,Visible,Hosted Image URLs", "squarespace", "price"],
  ["PrestaShop", "Product ID,Active (0/1),Name *,Reference #,Image URLs", "prestashop", "price"],
])(
  "a file of %s with half of what it needs is refused, and says which column it lacks",
  async (_, header, format, field) => {
    const delimiter = header.includes(";") ? ";" : ",";
    const row = header.split(delimiter).map((__, at) => (at === 0 ? "1" : "x"));
    const found = await readFile(`${header}\n${row.join(delimiter)}\n`, {
      urlTemplate,
      defaults: { available: "true" },
    });
    expect({ ...found, notes: [] }).toMatchObject({ format, products: [] });
    expect(found.problems.join("\n")).toContain(`1 ${field}: There is no column for ${field} in this file of `);
    if (field === "price") expect(found.problems.join(" ")).not.toMatch(/--default price|default=price|--map price/u);
  },
);

test.each([
  "Handle,Title,Option1 Name,Option1 Value,SKU,HS Code,COO,Location,Incoming,Unavailable,Committed,Available,On hand",
  "Handle,Title,Option1 Name,Option1 Value,SKU,HS Code,COO,Location,Bin name,Incoming (not editable),Unavailable (not editable),Committed (not editable),Available (not editable),On hand (current),On hand (new)",
])("Shopify's inventory export is refused by its name, without advice that erases prices: %s", async (header) => {
  for (const options of [{}, { format: "shopify" as const }, { defaults: { featured_image: imageUrl("n") } }]) {
    const { problems, products } = await readFile(csvOf(header, [{ Handle: "mug", Title: "Mug", SKU: "M" }]), {
      urlTemplate,
      ...options,
    });
    expect({ problems, products }).toEqual({
      problems: [
        "1 : This is Shopify's inventory export, which has no prices and would erase the stored ones. Import the export of products instead.",
      ],
      products: [],
    });
  }
});

test.each(["Nr;Bezeichnung;Preis;Bild;Lager", "Artikel", "a,b", "brand,model,colour,cost,picture,page"])(
  "a file whose columns no layout knows gets one line about map and its page: %s",
  async (header) => {
    const row = header.split(/[,;]/u).map(() => "x");
    for (const options of [
      {},
      { urlTemplate },
      { defaults: { available: "true" } },
      { isCommand: true, urlTemplate },
    ]) {
      const { problems, notes } = await readFile(`${header}\n${row.join(header.includes(";") ? ";" : ",")}\n`, options);
      expect(problems).toEqual([expect.stringMatching(/map[ =].*docs\/formats\.md/u)]);
      expect(notes).toEqual([]);
    }
  },
);
