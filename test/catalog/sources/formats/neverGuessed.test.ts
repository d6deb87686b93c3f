import { describe, expect, test } from "vitest";
import { csvOf, readFile } from "../../../support/catalog/formats.js";

const urlTemplate = "https://shop.example/{sku}";
const image = "https://cdn.example/1.jpg";

/** A row of each system that can be bought, and where its cells of a kind are. */
const systems = {
  shopify: {
    row: {
      Handle: "mug",
      Title: "Mug",
      Published: "true",
      "Variant Price": "12",
      "Image Src": image,
      Status: "active",
    },
    published: "Published",
  },
  woocommerce: {
    row: {
      ID: "1",
      SKU: "mug",
      Name: "Mug",
      Published: "1",
      "In stock?": "1",
      "Regular price": "12",
      "Sale price": "",
      "Date sale price starts": "",
      "Date sale price ends": "",
      Images: image,
    },
    published: "Published",
    sale: ["Sale price", "Date sale price starts", "Date sale price ends"],
  },
  magento: {
    row: {
      sku: "mug",
      name: "Mug",
      product_type: "simple",
      product_online: "1",
      is_in_stock: "1",
      price: "12",
      special_price: "",
      special_price_from_date: "",
      special_price_to_date: "",
      base_image: image,
    },
    published: "product_online",
    sale: ["special_price", "special_price_from_date", "special_price_to_date"],
  },
  prestashop: {
    row: {
      "Product ID": "1",
      "Active (0/1)": "1",
      "Name *": "Mug",
      "Price tax included": "12",
      "Reference #": "mug",
      "Discount amount": "",
      Quantity: "3",
      "Image URLs": image,
    },
    published: "Active (0/1)",
  },
  wix: {
    row: {
      handleId: "mug",
      fieldType: "Product",
      name: "Mug",
      productImageUrl: image,
      sku: "mug",
      price: "12",
      visible: "true",
    },
    published: "visible",
  },
  squarespace: {
    row: {
      "Product ID [Non Editable]": "1",
      "Product URL": "mug",
      Title: "Mug",
      SKU: "mug",
      Price: "12",
      "Sale Price": "",
      "On Sale": "Yes",
      Stock: "3",
      Visible: "Yes",
      "Hosted Image URLs": image,
    },
    published: "Visible",
    sale: ["Sale Price"],
  },
  bigcommerce: {
    row: {
      Item: "Product",
      ID: "1",
      Name: "Mug",
      SKU: "mug",
      Options: "",
      "Inventory Tracking": "product",
      "Current Stock": "3",
      Price: "12",
      "Sale Price": "",
      "Is Visible": "TRUE",
      "Internal Image URL (Export)": image,
    },
    published: "Is Visible",
    sale: ["Sale Price"],
  },
  matrixify: {
    row: {
      Handle: "mug",
      Command: "MERGE",
      Title: "Mug",
      "Body HTML": "",
      Status: "Active",
      Published: "TRUE",
      "Image Src": image,
      "Variant SKU": "mug",
      "Variant Price": "12",
    },
    published: "Published",
  },
} as const;

const read = (cells: Readonly<Record<string, string>>) =>
  readFile(csvOf(Object.keys(cells).join(","), [cells]), { urlTemplate, errorPolicy: "REJECT_FAILED" });
const availability = async (cells: Readonly<Record<string, string>>) => {
  const { products, problems } = await read(cells);
  return problems.length > 0 ? problems : products[0]?.["available"];
};

describe.each(Object.entries(systems))("%s", (name, { row, published }) => {
  test("is recognized, and its row can be bought", async () => {
    const { format, products, problems } = await read(row);
    expect({ format, problems, products }).toMatchObject({
      format: name,
      problems: [],
      products: [{ available: "true", price: "12" }],
    });
  });

  test("words of several languages are read where they decide whether a product can be bought", async () => {
    for (const yes of [
      "WAHR",
      "VRAI",
      "VERDADERO",
      "VERO",
      "WAAR",
      "PRAWDA",
      "SANT",
      "ja",
      "oui",
      "sí",
      "on",
      "1",
      "Yes",
    ]) {
      expect(await availability({ ...row, [published]: yes }), yes).toBe("true");
    }
    for (const no of ["FALSCH", "FAUX", "FALSO", "ONWAAR", "FAŁSZ", "FALSKT", "nein", "non", "no", "off", "0"]) {
      expect(await availability({ ...row, [published]: no }), no).toBe("false");
    }
  });

  test("any other word there is a problem with its line", async () => {
    for (const word of ["perhaps", "17", "trueish", "x".repeat(500)]) {
      expect(await availability({ ...row, [published]: word }), word).toEqual([
        expect.stringMatching(/^2 available: available must be true or false, not /u),
      ]);
    }
  });
});

const sales = {
  woocommerce: ["Sale price", "Date sale price starts", "Date sale price ends"],
  magento: ["special_price", "special_price_from_date", "special_price_to_date"],
  squarespace: ["Sale Price"],
  bigcommerce: ["Sale Price"],
} as const;

test.each(Object.entries(sales))(
  "%s: a sale price of 0 or above the price is no sale, which is noted",
  async (name, [sale]) => {
    const { row } = systems[name as keyof typeof sales];
    for (const price of ["0", "0.00", "-3", "12.01", "abc"]) {
      const { products, problems, notes } = await read({ ...row, [sale]: price });
      expect({ problems, price: products[0]?.["price"] }, price).toEqual({ problems: [], price: "12" });
      expect(notes, price).toContainEqual(expect.stringMatching(/^1 row, on line 2: the sale price is not used: /u));
    }
    expect((await read({ ...row, [sale]: "9.50" })).products).toMatchObject([{ price: "9.5" }]);
  },
);

const dated = { woocommerce: sales.woocommerce, magento: sales.magento };

test.each(Object.entries(dated))(
  "%s: dates of sales are read as shops write them, or give the regular price with a note",
  async (name, [sale, from, to]) => {
    const { row } = systems[name as keyof typeof dated];
    const on = async (start: string, end: string) => {
      const { products, notes = [] } = await read({
        ...row,
        [sale]: "9",
        [from]: start,
        [to]: end,
      });
      return [products[0]?.["price"], notes.some((note) => note.includes("the sale price is not used"))];
    };
    for (const past of [
      "1577836800",
      "31.12.2023",
      "28/02/2015",
      "16.03.15, 17:08",
      "2020-01-31 00:00:00",
      "Jan 5, 2020",
      "2/28/15",
    ]) {
      expect(await on(past, ""), past).toEqual(["9", false]);
      expect(await on("", past), past).toEqual(["12", false]);
    }
    for (const future of ["4102444800", "31.12.2999", "28/02/2999", "2999-01-01T00:00:00+01:00", "28 Feb 2999"]) {
      expect(await on(future, ""), future).toEqual(["12", false]);
      expect(await on("", future), future).toEqual(["9", false]);
    }
    for (const unknown of ["05/01/2027", "soon", "31.02.2020", "foo 2020", "99", "2020-13-01"]) {
      expect(await on(unknown, ""), unknown).toEqual(["12", true]);
      expect(await on("", unknown), unknown).toEqual(["12", true]);
    }
  },
);

test("stock that is no number, and words of stock that mean nothing, are problems", async () => {
  const { row } = systems.squarespace;
  expect(await availability({ ...row, Stock: "Unlimited" })).toBe("true");
  expect(await availability({ ...row, Stock: "0" })).toBe("false");
  expect(await availability({ ...row, Stock: "many" })).toEqual([
    '2 available: available must be true or false, not "many".',
  ]);
  const tracked = {
    ...systems.shopify.row,
    "Variant Inventory Tracker": "shopify",
    "Variant Inventory Policy": "deny",
  };
  expect(await availability({ ...tracked, "Variant Inventory Qty": "a few" })).toHaveLength(1);
  expect(
    await availability({ ...tracked, "Variant Inventory Qty": "0", "Variant Inventory Policy": "oversell" }),
  ).toHaveLength(1);
  expect(await availability({ ...systems.shopify.row, Status: "unknown" })).toHaveLength(1);
  expect(await availability({ ...systems.woocommerce.row, "In stock?": "soon" })).toHaveLength(1);
});

test("a column that stands twice is not taken for one in silence", async () => {
  const twice = "Art;Preis;Preis\na;1;2\n";
  const map = { id: "Art", sku: "Art", title: "Art", price: "Preis" };
  const defaults = { available: "true", featured_image: "https://cdn.example/a.jpg", url: "https://shop.example/a" };
  const { products, problems } = await readFile(twice, { map, defaults });
  expect({ products, problems }).toEqual({
    products: [],
    problems: ["1 price: The column for price appears more than once in this file. Rename those that are not meant."],
  });
  const ofImages = await readFile("Art;Bild;Bild\na;https://cdn.example/1.jpg;https://cdn.example/2.jpg\n", {
    map: { id: "Art", sku: "Art", title: "Art", images: "Bild" },
    defaults: { available: "true", url: "https://shop.example/a" },
  });
  expect(ofImages).toMatchObject({
    problems: [],
    products: [{ images: "{https://cdn.example/1.jpg,https://cdn.example/2.jpg}" }],
  });
  const feed = await readFile(
    "id,title,link,image_link,price,availability,availability\n1,Cup,https://shop.example/1,https://cdn.example/1.jpg,5,out of stock,in stock\n",
  );
  expect(feed.products).toMatchObject([{ available: "false" }]);
  expect(feed.notes).toEqual(["There are several columns 'availability': the first that is not empty counts."]);
});
