import * as fc from "fast-check";
import { expect, test } from "vitest";
import { csvOf, readFile } from "../../../support/catalog/formats.js";

type Cells = Readonly<Record<string, string>>;

/** Rows that must stay together, of which the first one stays first. */
type Group = readonly [Cells, ...Cells[]];

interface System {
  readonly header: string;
  readonly urlTemplate: string;
  /** How the rows of a file may be ordered: groups, and the rows after the first of each. */
  readonly groups: fc.Arbitrary<readonly Group[]>;
}

const image = (name: string) => `https://cdn.example/${name}.jpg`;
const sizes = ["S", "M", "L"];
const price = fc.constantFrom("12.90", "12,90", "1.049,50", "9");
const stock = fc.constantFrom("0", "3");
const text = fc.constantFrom("", "<p>Soft &amp; warm</p>", "Plain");

/** Parents, each with what it says of itself and of some sizes. */
const families = fc.array(
  fc.record({
    description: text,
    variants: fc.array(fc.record({ price, stock, description: text, hasSku: fc.boolean() }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 5 },
);

const shopify: System = {
  header:
    "Handle,Title,Body (HTML),Published,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty," +
    "Variant Inventory Policy,Variant Price,Image Src,Image Position",
  urlTemplate: "https://shop.example/products/{handle}",
  groups: families.map((list) =>
    list.map(({ description, variants }, n): Group => {
      const Handle = `hat-${n}`;
      const cells = variants.map((variant, at) => ({
        Handle,
        "Option1 Value": sizes[at] ?? "",
        "Variant SKU": variant.hasSku ? `H-${n}-${at}` : "",
        "Variant Inventory Tracker": "shopify",
        "Variant Inventory Qty": variant.stock,
        "Variant Inventory Policy": "deny",
        "Variant Price": variant.price,
        "Image Src": image(`${n}-${at}`),
        "Image Position": String(at + 2),
      }));
      const first = { Handle, Title: `Hat ${n}`, "Body (HTML)": description, Published: "true" };
      const images = { "Image Src": image(`${n}`), "Image Position": "1", "Option1 Name": "Size" };
      const own = { "Option1 Value": "One", "Variant SKU": `H-${n}`, "Variant Price": "5" };
      return [{ ...first, ...images, ...own }, ...cells];
    }),
  ),
};

const woocommerce: System = {
  header:
    "ID,Type,SKU,Name,Published,Description,In stock?,Stock,Regular price,Images,Parent,Attribute 1 name,Attribute 1 value(s)",
  urlTemplate: "https://shop.example/?p={id}",
  groups: families.map((list) =>
    list.flatMap(({ description, variants }, n): Group[] => {
      const ID = String(100 * (n + 1));
      const name = `Hat ${n}`;
      const parent = { ID, Type: "variable", SKU: `H-${n}`, Name: name, Published: "1", "In stock?": "1" };
      const simple = {
        ...parent,
        ID: `${ID}99`,
        SKU: `S-${n}`,
        Type: "simple",
        "Regular price": "5",
        Images: image("s"),
      };
      const variations = variants.map((variant, at) => ({
        ID: String(100 * (n + 1) + at + 1),
        Type: "variation",
        SKU: variant.hasSku ? `H-${n}-${at}` : "",
        Name: `${name} - ${sizes[at] ?? ""}`,
        Published: "1",
        Description: variant.description,
        "In stock?": variant.stock === "0" ? "0" : "1",
        "Regular price": variant.price,
        Parent: n % 2 === 0 ? `H-${n}` : `id:${ID}`,
        "Attribute 1 name": "Size",
        "Attribute 1 value(s)": sizes[at] ?? "",
      }));
      const described = { ...parent, Description: description, Images: `${image(`${n}`)}, ${image("b")}` };
      return [described, simple, ...variations].map((row): Group => [row]);
    }),
  ),
};

const magento: System = {
  header:
    "sku,store_view_code,product_type,name,description,product_online,visibility,price,url_key,base_image,qty,is_in_stock," +
    "configurable_variations",
  urlTemplate: "https://shop.example/{url_key|sku}.html",
  groups: families.map((list) =>
    list.flatMap(({ description, variants }, n): Group[] => {
      const shared = { product_online: "1", is_in_stock: "1" };
      const parent = {
        ...shared,
        sku: `H-${n}`,
        product_type: "configurable",
        name: `Hat ${n}`,
        description,
        url_key: `hat-${n}`,
        base_image: image(`${n}`),
        configurable_variations: variants.map((_, at) => `sku=H-${n}-${at},size=${sizes[at] ?? ""}`).join("|"),
      };
      const children = variants.map((variant, at) => ({
        ...shared,
        sku: `H-${n}-${at}`,
        product_type: "simple",
        name: `Hat ${n}-${at}`,
        description: variant.description,
        visibility: "Not Visible Individually",
        price: variant.price,
        qty: variant.stock,
      }));
      const view = { sku: `H-${n}`, store_view_code: "de", name: `Hut ${n}` };
      return [parent, view, ...children].map((row): Group => [row]);
    }),
  ),
};

const google: System = {
  header: "id\ttitle\tdescription\tlink\timage_link\tprice\tavailability",
  urlTemplate: "https://shop.example/{id}",
  groups: families.map((list) =>
    list.map(({ description, variants }, n): Group => {
      const { price: amount = "5", stock: left = "1" } = variants[0] ?? {};
      const availability = left === "0" ? "out of stock" : "in stock";
      const link = `https://shop.example/${n}`;
      return [
        {
          id: `G-${n}`,
          title: `Hat ${n}`,
          description,
          link,
          image_link: image(`${n}`),
          price: `${amount} EUR`,
          availability,
        },
      ];
    }),
  ),
};

const systems: Readonly<Record<string, System>> = { shopify, woocommerce, magento, google };

const shuffled = <Item>(items: readonly Item[]) =>
  fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });

/** The rows in another order that the system may write. */
function reordered(groups: readonly Group[]): fc.Arbitrary<readonly Cells[]> {
  return shuffled(groups)
    .chain((some) => fc.tuple(...some.map(([first, ...rest]) => shuffled(rest).map((others) => [first, ...others]))))
    .map((lists) => lists.flat());
}

/** What is read, without the order of the rows. */
async function readOf(rows: readonly Cells[], { header, urlTemplate }: System, format: string) {
  const isTabbed = header.includes("\t");
  const file = csvOf(header.replaceAll("\t", ","), rows, isTabbed ? "\t" : ",");
  const found = await readFile(file, { urlTemplate, pieceBytes: 512 });
  expect(found.format).toBe(format);
  const products = new Map(found.products.map((each) => [each["id"], { ...each, line: undefined }]));
  expect(products.size).toBe(found.products.length);
  const problems = found.problems.map((problem) => problem.replace(/^\d+ /u, "")).toSorted();
  return { products, problems, notes: found.notes?.map((note) => note.replace(/ line \d+/u, "")).toSorted() };
}

test.each(Object.entries(systems))(
  "rows of %s in any order that it may write give the same products",
  async (name, system) => {
    let products = 0;
    const cases = system.groups.chain((groups) => fc.tuple(fc.constant(groups.flat()), reordered(groups)));
    const property = fc.asyncProperty(cases, async ([rows, others]) => {
      const expected = await readOf(rows, system, name);
      expect(await readOf(others, system, name)).toEqual(expected);
      products += expected.products.size;
    });
    await fc.assert(property);
    expect(products).toBeGreaterThan(0);
  },
);
