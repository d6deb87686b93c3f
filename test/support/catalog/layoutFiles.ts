import * as fc from "fast-check";

/** The columns of each system, with cells that mean something and cells that do not: a row of the first ones can be bought. */
export interface LayoutFile {
  readonly header: string;
  readonly urlTemplate: string;
  readonly cells: Readonly<Record<string, readonly string[]>>;
  /** The column of `words` that decides whether a product can be bought. */
  readonly published: string | undefined;
}

const image = ["https://cdn.example/ä.jpg", "https://cdn.example/2.jpg", "N/A"];
const price = ["12.90", "12,90", "", "cheap"];
const words = ["1", "0", "TRUE", "nein", "", "perhaps"];
const titles = ["Töpfchen", "Mug, big", 'Cup "S"', ""];
const keys = ["A", "B", "C", ""];

const file = (cells: LayoutFile["cells"], urlTemplate = "https://shop.example/{sku}"): LayoutFile => ({
  header: Object.keys(cells).join(","),
  urlTemplate,
  cells,
  published: Object.keys(cells).findLast((name) => cells[name] === words),
});

export const layoutFiles = {
  shopify: file({
    Handle: keys,
    Title: titles,
    Published: words,
    "Option1 Value": ["Red", "Blue", ""],
    "Variant SKU": ["S1", "S2", "S3", ""],
    "Variant Price": price,
    "Image Src": image,
  }),
  matrixify: file({
    Handle: keys,
    Command: ["MERGE", "DELETE", "IGNORE", "SELL", ""],
    Title: titles,
    "Body HTML": ["<p>x</p>", ""],
    "Option1 Value": ["Red", "Blue", ""],
    "Variant Command": ["MERGE", "DELETE", ""],
    "Variant SKU": ["S1", "S2", "S3", ""],
    "Variant Price": price,
    "Image Src": image,
  }),
  woocommerce: file({
    ID: ["1", "2", "3", ""],
    Type: ["simple", "variable", "variation", "grouped", "external", ""],
    SKU: ["S1", "S2", "S3", ""],
    Name: titles,
    "In stock?": ["1", "0", "backorder", ""],
    Published: words,
    "Regular price": price,
    "Sale price": ["", "0", "9"],
    "Date sale price ends": ["", "05/01/2027", "31.12.2999"],
    Images: image,
    Parent: ["", "S1", "id:2"],
  }),
  magento: file({
    sku: ["S1", "S2", "S3", ""],
    product_type: ["simple", "configurable", "grouped", "bundle", ""],
    store_view_code: ["", "", "de"],
    name: titles,
    product_online: words,
    price,
    base_image: image,
    visibility: ["Catalog, Search", "Not Visible Individually", ""],
    configurable_variations: ["", "sku=S1|sku=S2"],
  }),
  google: file({
    id: ["1", "2", "3", ""],
    mpn: ["M1", "M2", ""],
    title: titles,
    link: ["https://shop.example/1", ""],
    image_link: image,
    price,
    availability: ["in stock", "sold_out", "perhaps", ""],
  }),
  prestashop: file({
    "Product ID": ["1", "2", ""],
    "Active (0/1)": words,
    "Name *": titles,
    "Price tax excluded": price,
    "Reference #": ["S1", "S2", ""],
    Quantity: ["3", "0", "many"],
    "Image URLs": image,
  }),
  wix: file({
    handleId: keys,
    fieldType: ["Product", "Variant", "Choice", ""],
    name: titles,
    productImageUrl: image,
    sku: ["S1", "S2", ""],
    price,
    surcharge: ["", "2"],
    visible: words,
  }),
  squarespace: file({
    "Product ID [Non Editable]": keys,
    Title: titles,
    SKU: ["S1", "S2", ""],
    "Option Value 1": ["Red", ""],
    Price: price,
    "Sale Price": ["", "9", "0"],
    "On Sale": [...words],
    Visible: words,
    "Hosted Image URLs": image,
  }),
  bigcommerce: file({
    Item: ["Product", "Variant", "Image", "Video", "  SKU", "  Rule"],
    ID: ["1", "2"],
    Name: titles,
    SKU: ["S1", "S2", ""],
    Options: ["Type=Dropdown|Name=Size|Value=M", ""],
    Price: price,
    "Is Visible": words,
    "Internal Image URL (Export)": image,
  }),
  ecwid: file({
    type: ["product", "product_variation", "product_option", ""],
    product_internal_id: keys,
    product_sku: ["S1", "S2", ""],
    product_name: titles,
    product_price: price,
    product_is_available: words,
    product_quantity: ["3", "0", "many"],
    product_media_main_image_url: image,
    product_variation_sku: ["", "V1"],
  }),
  etsy: file({
    TITLE: titles,
    DESCRIPTION: ["Nice", ""],
    PRICE: price,
    CURRENCY_CODE: ["EUR"],
    QUANTITY: ["3", "0", "many", ""],
    IMAGE1: image,
    SKU: ["S1", "S2", "S1,S2", ""],
  }),
  vitrine: file(
    {
      id: ["1", "2", ""],
      sku: ["S1", "S2", ""],
      title: titles,
      price: ["12.9", "", "cheap"],
      available: ["true", "false", "ja", ""],
      featured_image: image,
      url: ["//shop.example/1", ""],
    },
    "",
  ),
} satisfies Readonly<Record<string, LayoutFile>>;

/** Rows of a file, none of them blank. */
export function rowsOfLayout({ cells }: LayoutFile): fc.Arbitrary<readonly Readonly<Record<string, string>>[]> {
  const row = fc.record(
    Object.fromEntries(Object.entries(cells).map(([name, some]) => [name, fc.constantFrom(...some)])),
  );
  const isBlank = (each: object) => Object.values(each).every((cell) => cell === "");
  return fc.array(row, { minLength: 1, maxLength: 12 }).map((rows) => rows.filter((each) => !isBlank(each)));
}

/** A row that can be bought: the first cell of each column. */
export function boughtRow({ cells }: LayoutFile): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(cells).map(([name, [first = ""]]) => [name, first]));
}
