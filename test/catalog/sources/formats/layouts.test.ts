import { expect, test } from "vitest";
import { brief, csvOf, imageUrl as image, readFile, readRows as read } from "../../../support/catalog/formats.js";

test("Wix: variants have their surcharge, discounts are applied, names of images are at Wix' host", async () => {
  const header =
    "handleId,fieldType,name,description,productImageUrl,sku,price,surcharge,visible,discountMode,discountValue,inventory," +
    "productOptionName1,productOptionType1,productOptionDescription1";
  const tee = {
    handleId: "tee",
    fieldType: "Product",
    name: "Tee",
    description: "<p>Soft</p>",
    productImageUrl: `a_1~mv2.jpg;${image("b")}`,
    sku: "TEE",
    price: "20",
    visible: "true",
    discountMode: "PERCENT",
    discountValue: "10",
    inventory: "InStock",
    productOptionDescription1: "S;L",
  };
  const small = { handleId: "tee", fieldType: "Variant", sku: "TEE-S", inventory: "4", productOptionDescription1: "S" };
  const large = { ...small, sku: "", surcharge: "4", inventory: "OutOfStock", productOptionDescription1: "L" };
  const cap = {
    ...tee,
    handleId: "cap",
    name: "Cap",
    sku: "",
    price: "8",
    discountMode: "AMOUNT",
    discountValue: "9",
    visible: "FALSE",
  };
  const { format, problems, products, notes } = await read(header, [tee, small, large, cap]);
  expect({ format, problems }).toEqual({ format: "wix", problems: [] });
  expect(brief(products)).toEqual([
    "TEE-S | TEE-S | Tee - S | 18 | true",
    "tee-L | tee-L | Tee - L | 21.6 | false",
    "cap | cap | Cap | 8 | false",
  ]);
  expect(products[0]).toMatchObject({
    description: "Soft",
    images: `{https://static.wixstatic.com/media/a_1~mv2.jpg,${image("b")}}`,
    featured_image: "https://static.wixstatic.com/media/a_1~mv2.jpg",
  });
  expect(notes).toEqual([
    "1 row, on line 2: a product is not stored by itself: its variants are.",
    "1 row, on line 5: the sale price is not used: it is not above 0.",
  ]);
});

test("Squarespace: rows without a product belong to the one above, and the sale price counts where it is on", async () => {
  const header =
    "Product ID [Non Editable],Variant ID [Non Editable],Product Type [Non Editable],Product Page,Product URL,Title,Description,SKU," +
    "Option Name 1,Option Value 1,Price,Sale Price,On Sale,Stock,Categories,Visible,Hosted Image URLs";
  const mug = {
    "Product ID [Non Editable]": "5f",
    "Product Page": "store",
    "Product URL": "mug",
    Title: "Mug",
    SKU: "SQ1",
    "Option Value 1": "Red",
    Price: "12.00",
    "Sale Price": "9.00",
    "On Sale": "Yes",
    Stock: "Unlimited",
    Visible: "Yes",
    "Hosted Image URLs": `${image("1")} ${image("2")}`,
  };
  const blue = { "Option Value 1": "Blue", Price: "13.00", "Sale Price": "10.00", "On Sale": "No", Stock: "0" };
  const { format, problems, products } = await read(header, [mug, blue], {
    urlTemplate: "https://shop.example/{product_page}/p/{product_url}",
  });
  expect({ format, problems }).toEqual({ format: "squarespace", problems: [] });
  expect(brief(products)).toEqual([
    "SQ1 | SQ1 | Mug - Red | 9 | true",
    "mug-Blue | mug-Blue | Mug - Blue | 13 | false",
  ]);
  expect(products[1]).toMatchObject({
    url: "https://shop.example/store/p/mug",
    images: `{${image("1")},${image("2")}}`,
  });
});

test("BigCommerce: variants and images belong to the product above, in both versions", async () => {
  const modern =
    "Item,ID,Name,Type,SKU,Options,Inventory Tracking,Current Stock,Price,Sale Price,Description,Is Visible,Variant Image URL,Internal Image URL (Export)";
  const kit = {
    Item: "Product",
    ID: "1",
    Name: "Kit",
    SKU: "KIT",
    "Inventory Tracking": "variant",
    Price: "30",
    "Is Visible": "TRUE",
  };
  const part = (value: string, more = {}) => ({
    Item: "Variant",
    ID: `9${value}`,
    Options: `Type=Dropdown|Name=Size|Value=${value}`,
    "Inventory Tracking": "variant",
    "Current Stock": "2",
    ...more,
  });
  const rows = [
    kit,
    part("S", { SKU: "KIT-S", Price: "28" }),
    part("L", { "Current Stock": "0", "Variant Image URL": image("l") }),
    { Item: "Image", "Internal Image URL (Export)": image("kit") },
    { Item: "Video" },
    { ...kit, ID: "2", Name: "Bag", SKU: "BAG", "Inventory Tracking": "none" },
    { Item: "Image", "Internal Image URL (Export)": image("bag") },
  ];
  const { format, problems, products, notes, skipped } = await read(modern, rows);
  expect({ format, problems, skipped }).toEqual({ format: "bigcommerce", problems: [], skipped: 4 });
  expect(brief(products)).toEqual([
    "KIT-S | KIT-S | Kit - S | 28 | true",
    "KIT-L | KIT-L | Kit - L | 30 | false",
    "BAG | BAG | Bag | 30 | true",
  ]);
  expect(products.map(({ featured_image }) => featured_image)).toEqual([image("kit"), image("l"), image("bag")]);
  expect(notes).toContain("2 rows, the first on line 5: no product of its own, but a further image of one.");

  const older =
    "Item Type,Product ID,Product Name,Product Code/SKU,Product Description,Price,Sale Price,Product Visible?,Track Inventory,Current Stock Level,Product Image File - 1";
  const pan = {
    "Item Type": "Product",
    "Product ID": "3",
    "Product Name": "Pan",
    "Product Code/SKU": "PAN",
    Price: "40",
    "Sale Price": "0",
    "Product Visible?": "Y",
    "Track Inventory": "by option",
    "Current Stock Level": "0",
    "Product Image File - 1": "p/pan.jpg",
  };
  const sku = {
    "Item Type": "  SKU",
    "Product Name": "[S]Size=M,[RB]Colour=Red",
    "Product Code/SKU": "PAN-M",
    "Current Stock Level": "3",
    "Track Inventory": "by option",
  };
  const rule = { "Item Type": "  Rule", "Product Code/SKU": "PAN-M" };
  const legacy = await read(older, [pan, sku, rule]);
  expect({ format: legacy.format, problems: legacy.problems }).toEqual({ format: "bigcommerce", problems: [] });
  expect(brief(legacy.products)).toEqual(["PAN-M | PAN-M | Pan - M / Red | 40 | true"]);
  expect(legacy.products[0]).toMatchObject({ featured_image: "https://shop.example/p/pan.jpg" });
});

test("PrestaShop: the price with tax comes first, discounts hold within their dates, and one without tax is noted", async () => {
  const header =
    "Product ID;Active (0/1);Name *;Price tax included;Price tax excluded;Discount percent;Discount from (yyyy-mm-dd);Discount to (yyyy-mm-dd);Reference #;Quantity;Out of stock action;Summary;Available for order (0 = No, 1 = Yes);Image URLs (x,y,z...)";
  const shirt = [
    "1",
    "1",
    "Shirt",
    "24",
    "20",
    "",
    "",
    "",
    "SH-1",
    "0",
    "1",
    "A shirt",
    "1",
    `${image("1")},${image("2")}`,
  ];
  const hat = ["2", "1", "Hat", "", "10", "50", "2020-01-01", "2999-01-01", "", "0", "2", "", "1", image("h")];
  const old = ["3", "1", "Old", "10", "", "50", "2020-01-01", "2020-02-01", "O", "9", "", "", "0", image("o")];
  const file = [header, ...[shirt, hat, old].map((cells) => cells.join(";"))].join("\n");
  const { format, problems, products, notes } = await readFile(file, { urlTemplate: "https://shop.example/{id}" });
  expect({ format, problems }).toEqual({ format: "prestashop", problems: [] });
  expect(brief(products)).toEqual([
    "1 | SH-1 | Shirt | 24 | true",
    "2 | 2 | Hat | 5 | false",
    "3 | O | Old | 10 | false",
  ]);
  expect(products[0]).toMatchObject({ description: "A shirt", images: `{${image("1")},${image("2")}}` });
  expect(notes).toEqual(["1 row, on line 3: the price without tax is stored, since the file has no other."]);
});

test("PrestaShop: column names of thirty bees, which have semicolons in their lists", async () => {
  const header =
    "Product ID,Active (0/1),Name *,Price tax excluded or Price tax included,Reference #,Quantity,Available for order (0 = No; 1 = Yes),Image URLs (x;y;z...)";
  const cup = {
    "Product ID": "1",
    "Active (0/1)": "1",
    "Name *": "Cup",
    "Price tax excluded or Price tax included": "8",
    "Reference #": "C",
    Quantity: "3",
    "Available for order (0 = No; 1 = Yes)": "1",
    "Image URLs (x;y;z...)": `${image("1")};${image("2")}`,
  };
  const mug = { ...cup, "Product ID": "2", "Name *": "Mug", "Available for order (0 = No; 1 = Yes)": "0" };
  const jar = { ...cup, "Product ID": "3", "Name *": "Jar", "Reference #": "J" };
  const { format, problems, products, notes } = await read(header, [cup, mug, jar]);
  expect({ format, problems }).toEqual({ format: "prestashop", problems: [] });
  // References need not be unique: the id is.
  expect(brief(products)).toEqual(["1 | 1 | Cup | 8 | true", "2 | 2 | Mug | 8 | false", "3 | J | Jar | 8 | true"]);
  expect(products[0]).toMatchObject({ images: `{${image("1")},${image("2")}}` });
  expect(notes).toEqual(["2 rows, the first on line 2: other products have its SKU too, so that its id is its sku."]);
});

test("Etsy: each listing is a product, named by its SKU, or by its title where it has none or several", async () => {
  const header =
    "TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,TAGS,MATERIALS,IMAGE1,IMAGE2,VARIATION 1 TYPE,VARIATION 1 NAME,VARIATION 1 VALUES,SKU";
  const ring = {
    TITLE: "Silver ring",
    PRICE: "55.00",
    CURRENCY_CODE: "EUR",
    QUANTITY: "7",
    IMAGE1: image("1"),
    IMAGE2: image("2"),
  };
  const { format, problems, products } = await read(header, [
    { ...ring, SKU: "R-1" },
    { ...ring, TITLE: "Café ring, gold", SKU: "A,B", QUANTITY: "0", "VARIATION 1 VALUES": "S,M" },
    { ...ring, TITLE: "Plain ring", SKU: "" },
  ]);
  expect({ format, problems }).toEqual({ format: "etsy", problems: [] });
  expect(brief(products)).toEqual([
    "R-1 | R-1 | Silver ring | 55 | true",
    "café-ring-gold | café-ring-gold | Café ring, gold | 55 | false",
    "plain-ring | plain-ring | Plain ring | 55 | true",
  ]);
  expect(products[0]).toMatchObject({ images: `{${image("1")},${image("2")}}` });
});

test("Ecwid: variations are stored, or products that have none", async () => {
  const header =
    "type,product_internal_id,product_sku,product_name,product_price,product_is_inventory_tracked,product_quantity,product_quantity_out_of_stock_behaviour," +
    "product_is_available,product_media_main_image_url,product_media_gallery_image_url_1,product_variation_sku,product_variation_option_{Size}";
  const bolt = {
    type: "product",
    product_internal_id: "1",
    product_sku: "B",
    product_name: "Bolt",
    product_price: "2.50",
    product_is_available: "true",
    product_media_main_image_url: image("1"),
    product_media_gallery_image_url_1: image("2"),
  };
  const variation = {
    type: "product_variation",
    product_internal_id: "1",
    product_sku: "B",
    product_is_inventory_tracked: "true",
  };
  const { format, problems, products, skipped } = await read(header, [
    bolt,
    { type: "product_option", product_internal_id: "1" },
    { ...variation, product_quantity: "0", product_variation_sku: "B-3", "product_variation_option_{Size}": "M3" },
    {
      ...variation,
      product_quantity: "0",
      product_quantity_out_of_stock_behaviour: "ALLOW_PREORDER",
      "product_variation_option_{Size}": "M4",
    },
    { ...bolt, product_internal_id: "2", product_sku: "N", product_name: "Nut", product_is_available: "false" },
  ]);
  expect({ format, problems, skipped }).toEqual({ format: "ecwid", problems: [], skipped: 2 });
  expect(brief(products)).toEqual([
    "B-3 | B-3 | Bolt - M3 | 2.5 | false",
    "B-M4 | B-M4 | Bolt - M4 | 2.5 | true",
    "N | N | Nut | 2.5 | false",
  ]);
  expect(products[0]).toMatchObject({ images: `{${image("1")},${image("2")}}` });
});

test("titles that are plain text keep <M> and a<b", async () => {
  const google = {
    id: "1",
    title: "Shirt <M>",
    description: "a<b and <3",
    link: "https://shop.example/1",
    image_link: image("1"),
    price: "1",
    availability: "in stock",
  };
  expect((await readFile(csvOf(Object.keys(google).join(","), [google]))).products).toMatchObject([
    { title: "Shirt <M>", description: "a<b and <3" },
  ]);
});

test("Magento's __EMPTY__VALUE__ is empty", async () => {
  const row = {
    sku: "A",
    name: "Mug",
    product_type: "simple",
    price: "12",
    special_price: "__EMPTY__VALUE__",
    description: "__EMPTY__VALUE__",
    base_image: image("1"),
    url_key: "__EMPTY__VALUE__",
  };
  const { products, problems, notes } = await read(Object.keys(row).join(","), [row], {
    urlTemplate: "https://shop.example/{url_key|sku}",
  });
  expect({ products, problems, notes }).toMatchObject({
    problems: [],
    notes: [],
    products: [{ price: "12", url: "https://shop.example/A" }],
  });
  expect(products[0]).not.toHaveProperty("description");
});
