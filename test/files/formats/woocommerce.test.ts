import { expect, test, vi } from "vitest";
import { Notes } from "../../../src/files/formats/notes.js";
import { ParentRows } from "../../../src/files/formats/rows/parentRows.js";
import { emptyRow } from "../../../src/files/formats/rows/row.js";
import { brief, csvRow, expectRead, type FileCase, readFile } from "../../support/catalog/formats.js";

const urlTemplate = "https://shop.example/?p={id}";
const header =
  "ID,Type,SKU,Name,Published,Short description,Description,In stock?,Sale price,Regular price,Images,Parent,Attribute 1 value(s)";
const tea = String.raw`10,variable,tea,Tea &amp; honey,1,,<p>Loose leaves.</p>\nOrganic.,1,,,"//a.b/tea, //a.b/tin",,"100 g, 250 g"`;
const small = '11,variation,tea-s,Tea & honey - 100 g,1,,,1,,"12,90",,tea,100 g';
const cup = '20,simple,cup,Cup,1,A cup.,,1,18,20,"//a.b/cup 1,//a.b/cup-2",,';
const isParent = "1 row, on line 2: products of type variable are not stored: their variations are.";

const files: readonly Omit<FileCase, "format">[] = [
  {
    name: "variations take from their parent what they lack; parents, grouped and external products are not stored",
    file: [
      `${header},Categories`,
      tea,
      small,
      '12,variation,,,1,,,0,,"12,90",//a.b/large,tea,250 g',
      cup,
      "30,grouped,set,Set,1,,,1,,,//a.b/1,,",
      "31,external,ext,Ext,1,,,1,,5,//a.b/1,,",
    ],
    products: [
      "3: 11 / tea-s | Tea & honey - 100 g | 12.9 | true",
      "4: tea-250-g | Tea & honey - 250 g | 12.9 | false",
      "5: 20 / cup | Cup | 18 | true",
    ],
    details: [
      {
        description: "Loose leaves.\nOrganic.",
        images: "{//a.b/tea,//a.b/tin}",
        featured_image: "//a.b/tea",
        url: "https://shop.example/?p=11",
      },
      { images: "{//a.b/large}", url: "https://shop.example/?p=12" },
      { description: "A cup.", images: "{//a.b/cup%201,//a.b/cup-2}" },
    ],
    notes: [
      "Column 'Categories' is not used.",
      isParent,
      "1 row, on line 6: products of type grouped are not stored, because they cannot be put into a cart.",
      "1 row, on line 7: products of type external are not stored, because they cannot be put into a cart.",
    ],
  },
  {
    name: "a parent may come later, and be named by its ID",
    file: [header, "11,variation,,,1,,,1,,9,,id:10,100 g", cup, tea.replace(",tea,", ",,")],
    products: ["3: 20 / cup | Cup | 18 | true", "2: 11 | Tea & honey - 100 g | 9 | true"],
    details: [{}, { featured_image: "//a.b/tea" }],
    notes: ["1 row, on line 4: products of type variable are not stored: their variations are."],
  },
  {
    name: "a variation whose parent is not in the file is noted, and its problems have its line",
    file: [header, cup, small],
    products: ["2: 20 / cup | Cup | 18 | true"],
    problems: ["3 featured_image: featured_image is required."],
    notes: ["1 row, on line 3: the product that it belongs to is not in the file, or too far away from it."],
  },
  {
    name: "drafts have no variations to buy",
    file: [header, tea.replace(",1,", ",-1,"), small],
    products: ["3: 11 / tea-s | Tea & honey - 100 g | 12.9 | false"],
    notes: [isParent],
  },
  {
    name: "an apostrophe before what a spreadsheet would take for a formula is not part of a cell",
    file: [
      `${header},Stock`,
      "20,simple,'=cup,'+ Cup,'-1,,'- warm,1,,20,//a.b/1,,,",
      "21,simple,'90s,'90s cup,1,,,1,,20,//a.b/1,,,'-3",
    ],
    products: ["2: 20 / =cup | + Cup | 20 | false", "3: 21 / '90s | '90s cup | 20 | true"],
    details: [{ description: "- warm" }, {}],
  },
  {
    name: "products and variations that share a SKU, such as translations, are told apart by their ID",
    file: [
      header,
      tea,
      small,
      small.replace("11,", "111,").replace(",tea,", ",id:10,"),
      cup,
      cup.replace("20,", "120,"),
    ],
    products: [
      "3: 11 | Tea & honey - 100 g | 12.9 | true",
      "4: 111 | Tea & honey - 100 g | 12.9 | true",
      "5: 20 | Cup | 18 | true",
      "6: 120 | Cup | 18 | true",
    ],
    notes: [isParent, "4 rows, the first on line 3: other products have its SKU too, so that its id is its sku."],
  },
  {
    name: "a byte order mark, quotes around the names and semicolons do not matter",
    file: ['\uFEFF"ID";"SKU";"Name";"In stock?";"Regular price";"Images"', "20;cup;Cup;1;20;//a.b/1"],
    products: ["2: 20 / cup | Cup | 20 | true"],
  },
];

test.each(files)("$name", (file) =>
  expectRead({ format: "woocommerce", ...file, options: { urlTemplate, ...file.options } }),
);

const row = {
  ID: "20",
  Type: "simple",
  SKU: "cup",
  Name: "Cup",
  Published: "1",
  "In stock?": "1",
  "Regular price": "20",
  Images: "//a.b/1",
};

test.each([
  ["a price with a point and a comma", { "Regular price": "1.020,50" }, { price: "1020.5" }],
  ["no price", { "Regular price": "" }, { title: "Cup" }],
  ["a private product", { Published: "0" }, { available: "false" }],
  ["a product on backorder", { "In stock?": "backorder" }, { available: "true" }],
  ["no word on stock, and none", { "In stock?": "", Stock: "0" }, { available: "false" }],
  ["no stock, and backorders", { "In stock?": "", Stock: "0", "Backorders allowed?": "notify" }, { available: "true" }],
  ["a download", { Type: "simple, downloadable, virtual" }, { id: "20" }],
  ["no type", { Type: "" }, { id: "20" }],
  ["no ID", { ID: "" }, { id: "cup", sku: "cup", url: "https://shop.example/?p=cup" }],
  ["no SKU", { SKU: "" }, { id: "20", sku: "20" }],
])("%s", async (_, cells, expected) => {
  const { products, problems } = await readFile(csvRow({ ...row, ...cells }), { urlTemplate });
  expect({ products, problems }).toMatchObject({ products: [expected], problems: [] });
});

test("rows wait for their parents in bounded memory: one that waits too long is read as it is, and noted", () => {
  const notes = new Notes();
  const rows = new ParentRows(notes);
  const waiting = Array.from({ length: 10_002 }, () => rows.wait("p", { row: emptyRow, fields: {} }).length);
  expect(waiting).toEqual([...Array<number>(10_000).fill(0), 1, 1]);
  const long = { ...emptyRow, characters: 2 * 1024 * 1024, copy: () => long };
  expect(rows.wait("p", { row: long, fields: {} }).length).toBeGreaterThan(10_000);
  expect(notes.list.join()).toContain("the product that it belongs to is not in the file, or too far away from it.");
});

const headers = {
  German:
    "ID;Typ;Artikelnummer;Name;Veröffentlicht;Kurzbeschreibung;Datum, an dem Angebotspreis endet;Vorrätig?;Lager;Angebotspreis;Regulärer Preis;Bilder;Übergeordnetes Produkt;Attribut 1 Name;Attribut 1 Wert(e)",
  Spanish:
    "ID;Tipo;SKU;Nombre;Publicado;Descripción corta;Día en que termina el precio rebajado;¿Existencias?;Inventario;Precio rebajado;Precio normal;Imágenes;Superior;Nombre del atributo 1;Valor(es) del atributo 1",
  French:
    "ID;Type;UGS;Nom;Publié;Description courte;Date de fin de promo;En stock\u{a0}?;Stock;Tarif promo;Tarif régulier;Images;Parent;Nom de l’attribut 1;Valeur(s) de l’attribut 1 ",
  Italian:
    "ID;Tipo;COD;Nome;Pubblicato;Breve descrizione;Data in cui termina l'offerta;In stock?;Magazzino;Prezzo in offerta;Prezzo di listino;Immagine;Genitore;Attributo 1 nome;Attributo 1 valuta(e)",
  "Italian of 2022":
    "ID;Tipo;SKU;Nome;Pubblicato;Breve descrizione;Termine data del prezzo di vendita;In stock?;Magazzino;Prezzo in offerta;Prezzo di listino;Immagine;Genitore;Nome dell'attributo 1;Valore dell'attributo 1",
  "Swedish of 2022":
    "ID;Typ;Artikelnr;Namn;Publicerad;Kort beskrivning;Datum när reapriset upphör;I lager?;Lagersaldo;Reapris;Ordinarie pris;Bilder;Förälder;Attribut 1 namn;Attribut 1 värde(n)",
  Dutch:
    "ID;Type;Artikelnummer;Naam;Gepubliceerd;Korte omschrijving;Einddatum actieprijs;Op voorraad?;Voorraad;Actieprijs;Reguliere prijs;Afbeeldingen;Hoofd;Naam eigenschap 1;Waarde eigenschap 1",
  "Brazilian Portuguese":
    "ID;Tipo;SKU;Nome;Publicado;Descrição curta;Data de preço promocional termina em;Em estoque?;Estoque;Preço promocional;Preço;Imagens;Ascendente;Nome do atributo 1;Valores do atributo 1",
  Portuguese:
    "ID;Tipo;REF;Nome;Publicado;Descrição breve;Data de término do preço promocional;Em stock?;Stock;Preço promocional;Preço normal;Imagens;Pai;Atributo 1 nome;Atributo 1 valor(es)",
  Polish:
    "ID;Typ;SKU;Nazwa;Opublikowano;Krótki opis;Data zakończenia promocji;W magazynie?;Stan magazynowy;Cena promocyjna;Cena;Obrazki;Element nadrzędny;Nazwa atrybutu 1;Wartości atrybutu 1",
  Swedish:
    "ID;Typ;Artikelnummer;Namn;Publicerad;Kort beskrivning;Datum när reapriset upphör;I lager?;Lager;Reapris;Ordinarie pris;Bilder;Överordnad;Attribut 1 namn;Attribut 1 värde(n)",
  Danish:
    "ID;Type;Varenummer;Navn;Udgivet;Kort beskrivelse;Den dato hvor tilbudsprisen slutter;På lager?;Lagerantal;Tilbudspris;Normalpris;Billeder;Forældre;Egenskab 1 navn;Egenskab 1 værdi(er)",
  Russian:
    "ID;Тип;Артикул;Имя;Опубликован;Краткое описание;Дата окончания действия скидки;Наличие;Запасы;Акционная цена;Базовая цена;Изображения;Родительский;Название атрибута 1;Значения атрибутов 1",
  "Russian of older versions":
    "ID;Тип;Артикул;Имя;Опубликован;Короткое описание;Дата окончания действия продажной цены;В наличии?;Запасы;Цена распродажи;Базовая цена;Изображения;Родительский;Имя атрибута 1;Значение(-я) аттрибута(-ов) 1",
} as const;

test.each(Object.entries(headers))("%s is read as English", async (_, names) => {
  const rows = [
    "10;variable;tea;Tea;1;Loose;;1;;;;//a.b/tea;;Size;100 g, 250 g",
    "11;variation;tea-s;;1;;2020-01-01;1;;9;12,90;;tea;Size;100 g",
    "12;simple;cup;Cup;0;;;0;3;8;10;//a.b/cup;;;",
  ];
  for (const text of [names, names.normalize("NFD")]) {
    const { format, problems, products, notes } = await readFile([text, ...rows].join("\n"), { urlTemplate });
    expect({ format, problems, notes }).toEqual({ format: "woocommerce", problems: [], notes: [isParent] });
    expect(brief(products)).toEqual(["3: 11 / tea-s | Tea - 100 g | 12.9 | true", "4: 12 / cup | Cup | 8 | false"]);
  }
});

test("a German file whose column of stock has an unknown name makes no product available", async () => {
  const german = "ID;Typ;Artikelnummer;Name;Veröffentlicht;Lagerlage?;Angebotspreis;Regulärer Preis;Bilder";
  const file = `${german}\n1;simple;a;A;1;0;;5;//a.b/1\n`;
  const { products, problems } = await readFile(file, { urlTemplate });
  expect({ products, problems }).toEqual({
    products: [],
    problems: [expect.stringMatching(/^1 available: There is no column for available in this file of WooCommerce/u)],
  });
  expect((await readFile(file, { urlTemplate, map: { available: "Lagerlage?" } })).products).toMatchObject([
    { id: "1", available: "false" },
  ]);
  const counted = `${german.replace("Lagerlage?", "Bestand;Lagerlage?")}\n1;simple;a;A;1;;0;;5;//a.b/1\n`;
  expect((await readFile(counted, { urlTemplate })).problems).toEqual(["2 available: available is required."]);
});

test("dates of sales without a zone are of the store's", async () => {
  const sale = { ...row, "Sale price": "15", "Date sale price ends": "2026-03-10 12:00" };
  const names = Object.keys(sale).join(",");
  const content = `${names}\n${Object.values(sale).join(",")}\n`;
  const now = Date.parse("2026-03-10T12:30:00Z");
  const clock = vi.spyOn(Date, "now").mockReturnValue(now);
  const priceIn = async (timeZone: string) =>
    (await readFile(content, { urlTemplate, timeZone })).products[0]?.["price"];
  expect([await priceIn("UTC"), await priceIn("America/New_York"), await priceIn("Asia/Tokyo")]).toEqual([
    "20",
    "15",
    "20",
  ]);
  clock.mockRestore();
});
