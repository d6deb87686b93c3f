import { test } from "vitest";
import { expectRead, type FileCase } from "../../support/catalog/formats.js";

const wix =
  "handleId,fieldType,name,description,productImageUrl,sku,price,surcharge,visible,discountMode,discountValue,inventory,productOptionDescription1";
const squarespace =
  "Product ID [Non Editable],Product Page,Product URL,Title,SKU,Option Value 1,Price,Sale Price,On Sale,Stock,Visible,Hosted Image URLs";
const bigcommerce =
  "Item,ID,Name,SKU,Options,Inventory Tracking,Current Stock,Price,Is Visible,Variant Image URL,Internal Image URL (Export)";
const olderBigcommerce =
  "Item Type,Product ID,Product Name,Product Code/SKU,Price,Sale Price,Product Visible?,Track Inventory,Current Stock Level,Product Image File - 1";
const prestashop =
  "Product ID;Active (0/1);Name *;Price tax included;Price tax excluded;Discount percent;Discount from (yyyy-mm-dd);Discount to (yyyy-mm-dd);Reference #;Quantity;Out of stock action;Summary;Available for order (0 = No, 1 = Yes);Image URLs (x,y,z...)";
const thirtyBees =
  '"Product ID","Name *","Price tax excluded or Price tax included","Reference #","Available for order (0 = No; 1 = Yes)","Image URLs (x;y;z...)"';
const etsy = "TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,IMAGE1,IMAGE2,VARIATION 1 VALUES,SKU";
const ecwid =
  "type,product_internal_id,product_sku,product_name,product_price,product_is_inventory_tracked,product_quantity,product_quantity_out_of_stock_behaviour," +
  "product_is_available,product_media_main_image_url,product_media_gallery_image_url_1,product_variation_sku,product_variation_option_{Size}";
const isProduct = "a product is not stored by itself: its variants are.";

const files: readonly FileCase[] = [
  {
    name: "BigCommerce: where stock counts for each variant, a variant without any is not available; otherwise its product's counts",
    file: [
      bigcommerce,
      "Product,1,Mug,,,variant,9,5,TRUE,,//a.b/1",
      "Variant,2,,M-R,Type=Dropdown|Name=C|Value=R,,0,,,,",
      "Variant,3,,M-B,Type=Dropdown|Name=C|Value=B,,4,,,,",
      "Variant,4,,M-G,Type=Dropdown|Name=C|Value=G,,,,,,",
      "Product,5,Cup,,,product,0,5,TRUE,,//a.b/1",
      "Variant,6,,C-R,Type=Dropdown|Name=C|Value=R,,3,,,,",
      "Product,7,Hat,,,none,0,5,TRUE,,//a.b/1",
      "Variant,8,,H-R,Type=Dropdown|Name=C|Value=R,,0,,,,",
    ],
    format: "bigcommerce",
    products: [
      "3: M-R | Mug - R | 5 | false",
      "4: M-B | Mug - B | 5 | true",
      "5: M-G | Mug - G | 5 | false",
      "7: C-R | Cup - R | 5 | false",
      "9: H-R | Hat - R | 5 | true",
    ],
    notes: [`3 rows, the first on line 2: ${isProduct}`],
  },
  {
    name: "Wix: variants have their surcharge, discounts are applied, names of images are at Wix' host",
    file: [
      wix,
      'tee,Product,Tee,<p>Soft</p>,a_1~mv2.jpg;//a.b/1,TEE,20,,true,PERCENT,10,InStock,"S;L"',
      "tee,Variant,,,,TEE-S,,,,,,4,S",
      "tee,Variant,,,,,,4,,,,OutOfStock,L",
      "cap,Product,Cap,,//a.b/1,,8,,FALSE,AMOUNT,9,InStock,",
    ],
    format: "wix",
    products: ["3: TEE-S | Tee - S | 18 | true", "4: tee-L | Tee - L | 21.6 | false", "5: cap | Cap | 8 | false"],
    details: [
      {
        description: "Soft",
        images: "{https://static.wixstatic.com/media/a_1~mv2.jpg,//a.b/1}",
        featured_image: "https://static.wixstatic.com/media/a_1~mv2.jpg",
      },
      {},
      {},
    ],
    notes: [`1 row, on line 2: ${isProduct}`, "1 row, on line 5: the sale price is not used: it is not above 0."],
  },
  {
    name: "Wix: variants that share a SKU are named by their handle and options; that of their product does not count",
    file: [
      "handleId,fieldType,name,productImageUrl,sku,price,visible,inventory,productOptionDescription1",
      "tee,Product,Tee,//a.b/1,T,20,true,InStock,",
      "tee,Variant,,,T,,,,S",
      "tee,Variant,,,U,,,,M",
      "tee,Variant,,,U,,,,L",
      "cap,Product,Cap,//a.b/1,C,20,true,InStock,",
      "hat,Product,Cap,//a.b/1,C,20,true,InStock,",
    ],
    format: "wix",
    products: [
      "3: T | Tee - S | 20 | true",
      "4: tee-M | Tee - M | 20 | true",
      "5: tee-L | Tee - L | 20 | true",
      "6: cap | Cap | 20 | true",
      "7: hat | Cap | 20 | true",
    ],
    notes: [
      `1 row, on line 2: ${isProduct}`,
      "4 rows, the first on line 4: other variants have its SKU too, so that its id and sku are made of its product's handle and its options.",
    ],
  },
  {
    name: "Squarespace: rows without a product belong to the one above, and the sale price counts where it is on",
    file: [
      squarespace,
      "5f,store,mug,Mug,SQ1,Red,12.00,9.00,Yes,Unlimited,Yes,//a.b/1 //a.b/2",
      ",,,,,Blue,13.00,10.00,No,0,,",
      ",,,,,Green,13.00,,,many,,",
    ],
    options: { urlTemplate: "https://shop.example/{product_page}/p/{product_url}" },
    format: "squarespace",
    products: ["2: SQ1 | Mug - Red | 9 | true", "3: mug-Blue | Mug - Blue | 13 | false"],
    details: [
      { images: "{//a.b/1,//a.b/2}" },
      { url: "https://shop.example/store/p/mug", images: "{//a.b/1,//a.b/2}" },
    ],
    problems: ['4 available: available must be true or false, not "many".'],
  },
  {
    name: "BigCommerce: variants and images belong to the product above",
    file: [
      bigcommerce,
      "Product,1,Kit,KIT,,variant,,30,TRUE,,",
      "Variant,9,,KIT-S,Type=Dropdown|Name=Size|Value=S,variant,2,28,,,",
      "Variant,9,,,Type=Dropdown|Name=Size|Value=L,variant,0,,,//a.b/l,",
      "Image,,,,,,,,,,//a.b/kit",
      "Video,,,,,,,,,,",
      "Product,2,Bag,BAG,,none,,30,TRUE,,",
      "Image,,,,,,,,,,//a.b/bag",
    ],
    format: "bigcommerce",
    products: ["3: KIT-S | Kit - S | 28 | true", "4: KIT-L | Kit - L | 30 | false", "7: BAG | Bag | 30 | true"],
    details: [{ featured_image: "//a.b/kit" }, { featured_image: "//a.b/l" }, { featured_image: "//a.b/bag" }],
    notes: [
      `1 row, on line 2: ${isProduct}`,
      "2 rows, the first on line 5: no product of its own, but a further image of one.",
      "1 row, on line 6: not stored: it is no product or variant.",
    ],
  },
  {
    name: "BigCommerce: likewise in its older version",
    file: [
      olderBigcommerce,
      "Product,3,Pan,PAN,40,0,Y,by option,0,p/pan.jpg",
      '  SKU,,"[S]Size=M,[RB]Colour=Red",PAN-M,,,,by option,3,',
      "  Rule,,,PAN-M,,,,,,",
    ],
    format: "bigcommerce",
    products: ["3: PAN-M | Pan - M / Red | 40 | true"],
    details: [{ featured_image: "https://shop.example/p/pan.jpg" }],
    notes: [
      `1 row, on line 2: ${isProduct}`,
      "1 row, on line 4: not stored: it is no product or variant.",
      "1 row, on line 3: the sale price is not used: it is not above 0.",
    ],
  },
  {
    name: "BigCommerce: each row of a product begins one, whatever its SKU, so that none is lost",
    file: [
      "Item,ID,Name,SKU,Options,Price,Is Visible,Internal Image URL (Export)",
      "Product,1,Cup,C,,5,TRUE,",
      "Image,,,,,,,//a.b/1",
      "Product,2,Mug,M,,5,TRUE,//a.b/2",
      "Product,3,Copy,C,,5,TRUE,//a.b/3",
    ],
    options: { urlTemplate: "https://shop.example/{handle}" },
    format: "bigcommerce",
    products: ["2: C | Cup | 5 | true", "4: M | Mug | 5 | true", "5: C | Copy | 5 | true"],
    details: [{ url: "https://shop.example/C" }, { url: "https://shop.example/M" }, { url: "https://shop.example/C" }],
    notes: ["1 row, on line 3: no product of its own, but a further image of one."],
  },
  {
    name: "PrestaShop: the price with tax comes first, discounts hold within their dates, and one without tax is noted",
    file: [
      prestashop,
      "1;1;Shirt;24;20;;;;SH-1;0;1;A shirt;1;//a.b/1,//a.b/2",
      "2;1;Hat;;10;50;2020-01-01;2999-01-01;;0;2;;1;//a.b/h",
      "3;1;Old;10;;50;2020-01-01;2020-02-01;O;9;;;0;//a.b/o",
    ],
    options: { urlTemplate: "https://shop.example/{id}" },
    format: "prestashop",
    products: ["2: 1 / SH-1 | Shirt | 24 | true", "3: 2 | Hat | 5 | false", "4: 3 / O | Old | 10 | false"],
    details: [{ description: "A shirt", images: "{//a.b/1,//a.b/2}" }, {}, {}],
    notes: ["1 row, on line 3: the price without tax is stored, because the file has no other."],
  },
  {
    name: "PrestaShop: column names of thirty bees, which have semicolons; references need not be unique, the id is",
    file: [thirtyBees, "1,Cup,8,C,1,//a.b/1;//a.b/2", "2,Mug,8,C,0,//a.b/1", "3,Jar,8,J,1,//a.b/1"],
    format: "prestashop",
    products: ["2: 1 | Cup | 8 | true", "3: 2 | Mug | 8 | false", "4: 3 / J | Jar | 8 | true"],
    details: [{ images: "{//a.b/1,//a.b/2}" }, {}, {}],
    notes: ["2 rows, the first on line 2: other products have its SKU too, so that its id is its sku."],
  },
  {
    name: "Etsy: each listing is a product, named by its SKU, or by its title where it has none, several, or that of another",
    file: [
      etsy,
      "Silver ring,,55.00,EUR,7,//a.b/1,//a.b/2,,R-1",
      '"Café ring, gold",,55.00,EUR,0,//a.b/1,,"S,M","A,B"',
      "Plain ring,,55.00,EUR,7,//a.b/1,,,",
      "Thin ring,,55.00,EUR,7,//a.b/1,,,R",
      "Thick ring,,55.00,EUR,7,//a.b/1,,,R",
    ],
    format: "etsy",
    products: [
      "2: R-1 | Silver ring | 55 | true",
      "3: café-ring-gold | Café ring, gold | 55 | false",
      "4: plain-ring | Plain ring | 55 | true",
      "5: thin-ring | Thin ring | 55 | true",
      "6: thick-ring | Thick ring | 55 | true",
    ],
    details: [{ images: "{//a.b/1,//a.b/2}" }, {}, {}, {}, {}],
    notes: [
      "Column 'CURRENCY_CODE' is not used.",
      "2 rows, the first on line 5: other products have its SKU too, so that its id and sku are made of its title.",
    ],
  },
  {
    name: "Ecwid: variations are stored, or products that have none",
    file: [
      ecwid,
      "product,1,B,Bolt,2.50,,,,true,//a.b/1,//a.b/2,,",
      "product_option,1,,,,,,,,,,,",
      "product_variation,1,B,,,true,0,,,,,B-3,M3",
      "product_variation,1,B,,,true,0,ALLOW_PREORDER,,,,,M4",
      "product,2,N,Nut,2.50,,,,false,//a.b/1,,,",
    ],
    format: "ecwid",
    products: ["4: B-3 | Bolt - M3 | 2.5 | false", "5: B-M4 | Bolt - M4 | 2.5 | true", "6: N | Nut | 2.5 | false"],
    details: [{ images: "{//a.b/1,//a.b/2}" }, {}, {}],
    notes: [`1 row, on line 2: ${isProduct}`, "1 row, on line 3: not stored: it is no product or variant."],
  },
];

test.each(files)("$name", (file) => expectRead(file));
