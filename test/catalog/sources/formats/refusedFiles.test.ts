import { expect, test } from "vitest";
import { brief, imageUrl as image, readFile, readRows as read, urlTemplate } from "../../../support/catalog/formats.js";

const woocommerce = {
  German: [
    "ID;Typ;Artikelnummer;Name;Veröffentlicht;Kurzbeschreibung;Datum, an dem Angebotspreis endet;Vorrätig?;Lager;Angebotspreis;Regulärer Preis;Bilder;Übergeordnetes Produkt;Attribut 1 Name;Attribut 1 Wert(e)",
  ],
  Spanish: [
    "ID;Tipo;SKU;Nombre;Publicado;Descripción corta;Día en que termina el precio rebajado;¿Existencias?;Inventario;Precio rebajado;Precio normal;Imágenes;Superior;Nombre del atributo 1;Valor(es) del atributo 1",
  ],
  French: [
    "ID;Type;UGS;Nom;Publié;Description courte;Date de fin de promo;En stock\u{a0}?;Stock;Tarif promo;Tarif régulier;Images;Parent;Nom de l’attribut 1;Valeur(s) de l’attribut 1 ",
  ],
  Italian: [
    "ID;Tipo;COD;Nome;Pubblicato;Breve descrizione;Data in cui termina l'offerta;In stock?;Magazzino;Prezzo in offerta;Prezzo di listino;Immagine;Genitore;Attributo 1 nome;Attributo 1 valuta(e)",
  ],
  Dutch: [
    "ID;Type;Artikelnummer;Naam;Gepubliceerd;Korte omschrijving;Einddatum actieprijs;Op voorraad?;Voorraad;Actieprijs;Reguliere prijs;Afbeeldingen;Hoofd;Naam eigenschap 1;Waarde eigenschap 1",
  ],
  "Brazilian Portuguese": [
    "ID;Tipo;SKU;Nome;Publicado;Descrição curta;Data de preço promocional termina em;Em estoque?;Estoque;Preço promocional;Preço;Imagens;Ascendente;Nome do atributo 1;Valores do atributo 1",
  ],
  Portuguese: [
    "ID;Tipo;REF;Nome;Publicado;Descrição breve;Data de término do preço promocional;Em stock?;Stock;Preço promocional;Preço normal;Imagens;Pai;Atributo 1 nome;Atributo 1 valor(es)",
  ],
  Polish: [
    "ID;Typ;SKU;Nazwa;Opublikowano;Krótki opis;Data zakończenia promocji;W magazynie?;Stan magazynowy;Cena promocyjna;Cena;Obrazki;Element nadrzędny;Nazwa atrybutu 1;Wartości atrybutu 1",
  ],
  Swedish: [
    "ID;Typ;Artikelnummer;Namn;Publicerad;Kort beskrivning;Datum när reapriset upphör;I lager?;Lager;Reapris;Ordinarie pris;Bilder;Överordnad;Attribut 1 namn;Attribut 1 värde(n)",
  ],
  Danish: [
    "ID;Type;Varenummer;Navn;Udgivet;Kort beskrivelse;Den dato hvor tilbudsprisen slutter;På lager?;Lagerantal;Tilbudspris;Normalpris;Billeder;Forældre;Egenskab 1 navn;Egenskab 1 værdi(er)",
  ],
  Russian: [
    "ID;Тип;Артикул;Имя;Опубликован;Краткое описание;Дата окончания действия скидки;Наличие;Запасы;Акционная цена;Базовая цена;Изображения;Родительский;Название атрибута 1;Значения атрибутов 1",
  ],
  "Russian of older versions": [
    "ID;Тип;Артикул;Имя;Опубликован;Короткое описание;Дата окончания действия продажной цены;В наличии?;Запасы;Цена распродажи;Базовая цена;Изображения;Родительский;Имя атрибута 1;Значение(-я) аттрибута(-ов) 1",
  ],
} as const;

test.each(Object.entries(woocommerce))("WooCommerce in %s is read as in English", async (_, [header]) => {
  const rows = [
    ["10", "variable", "tea", "Tea", "1", "Loose", "", "1", "", "", "", image("tea"), "", "Size", "100 g, 250 g"],
    ["11", "variation", "tea-s", "", "1", "", "2020-01-01", "1", "", "9", "12,90", "", "tea", "Size", "100 g"],
    ["12", "simple", "cup", "Cup", "0", "", "", "0", "3", "8", "10", image("cup"), "", "", ""],
  ];
  for (const text of [header, header.normalize("NFD")]) {
    const { format, problems, products, notes } = await readFile(
      [text, ...rows.map((cells) => cells.join(";"))].join("\n"),
      { urlTemplate },
    );
    expect({ format, problems }).toEqual({ format: "woocommerce", problems: [] });
    expect(brief(products)).toEqual(["11 | tea-s | Tea - 100 g | 12.9 | true", "12 | cup | Cup | 8 | false"]);
    expect(notes).toEqual(["1 row, on line 2: products of type variable are not stored: their variations are."]);
  }
});

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
  for (const options of [{}, { format: "shopify" as const }, { defaults: { featured_image: image("n") } }]) {
    const { problems, products } = await read(header, [{ Handle: "mug", Title: "Mug", SKU: "M" }], options);
    expect({ problems, products }).toEqual({
      problems: [
        "1 : This is Shopify's inventory export, which has no prices: it would erase those that are stored. Import the export of products.",
      ],
      products: [],
    });
  }
});
