import type { Layout } from "../layout.js";

/** In eleven languages, as WooCommerce's translations name the columns of its export. */
export const woocommerce: Layout = {
  label: "WooCommerce",
  file: "Product CSV, in English, German, Spanish, French, Italian, Dutch, Portuguese, Polish, Swedish, Danish and Russian",
  remark: `Variations are stored, and inherit from their parent product what they lack; variable, grouped and external products are not
    stored. A variation's id is its \`ID\`, its sku its \`SKU\`; without a SKU both are made of the SKU of the parent product and the values
    of the variation's attributes. \`--url-template 'https://shop.example/?p={id}'\` makes URLs that WordPress redirects. Private
    products and drafts are not available.`,
  columns: {
    id: "id",
    kind: "type | typ | tipo | тип",
    sku: "sku | artikelnummer | ugs | cod | ref | varenummer | артикул | artikelnr",
    title: "name | nombre | nom | nome | naam | nazwa | namn | navn | имя",
    published: `published | veröffentlicht | publicado | publié | pubblicato | gepubliceerd | opublikowano | publicerad
      | udgivet | опубликован`,
    description: `description | beschreibung | descripción | descrizione | beschrijving | descrição | opis | beskrivning | beskrivelse | описание
      | short description | kurzbeschreibung | descripción corta | description courte | breve descrizione | korte omschrijving
      | korte beschrijving | descrição curta | descrição breve | krótki opis | kort beskrivning | kort beskrivelse
      | краткое описание | короткое описание`,
    inStock: `in stock? | vorrätig? | auf lager? | ¿existencias? | ¿en inventario? | ¿hay existencias? | en stock ? | en stock?
      | op voorraad? | em estoque? | em stock? | w magazynie? | i lager? | på lager? | в наличии? | наличие`,
    stock: `stock | lagerbestand | lager | bestand | inventario | existencias | magazzino | voorraad | estoque | qtd stock
      | stan magazynowy | lagersaldo | lagerantal | запасы`,
    policy: `backorders allowed? | lieferrückstande erlaubt? | lieferrückstände erlaubt? | rückstände erlaubt?
      | ¿permitir reservas de productos agotados? | autoriser les commandes de produits en rupture ? | abilita gli ordini arretrati?
      | nabestellingen toestaan? | são permitidas encomendas? | permitir encomendas pendentes?
      | pozwalać na zamówienia oczekujące (na dostawę do magazynu)? | tillåt restnoteringar? | restordrer tilladt?
      | возможен ли предзаказ? | задержанный заказ возможен?`,
    salePrice: `sale price | angebotspreis | precio rebajado | tarif promo | prezzo in offerta | actieprijs | preço promocional
      | cena promocyjna | reapris | tilbudspris | цена распродажи | акционная цена`,
    saleStart: `date sale price starts | datum, an dem angebotspreis beginnt | datum, an dem der angebotspreis beginnt
      | día en que empieza el precio rebajado | date de début de promo | data di partenza del prezzo in saldo
      | startdatum actieprijs | data de preço promocional começa em | data de início do preço promocional
      | data rozpoczęcia promocji | datum när reapriset börjar | den dato hvor tilbudsprisen starter
      | дата начала действия продажной цены | дата начала действия скидки`,
    saleEnd: `date sale price ends | datum, an dem angebotspreis endet | datum, an dem der angebotspreis endet
      | día en que termina el precio rebajado | date de fin de promo | data in cui termina l'offerta
      | termine data del prezzo di vendita | einddatum actieprijs
      | data de preço promocional termina em | data de término do preço promocional | data zakończenia promocji
      | datum när reapriset upphör | den dato hvor tilbudsprisen slutter
      | дата окончания действия продажной цены | дата окончания действия скидки`,
    price: `regular price | regulärer preis | precio normal | precio regular | tarif régulier | prezzo di listino | reguliere prijs
      | preço normal | preço | cena regularna | cena | ordinarie pris | normalpris | базовая цена`,
    image:
      "images | bilder | imágenes | immagini | immagine | afbeeldingen | imagens | obrazki | billeder | изображения",
    parent: `parent | übergeordnetes produkt | superior | genitore | hoofd | ascendente | pai | element nadrzędny | överordnad
      | förälder | forældre | родительский`,
    option: `attribute # value(s) | attribut # wert(e) | valor(es) del atributo # | valeur(s) de l'attribut # | attributo # valuta(e)
      | valori attributo #
      | valore dell'attributo # | attributo # valore(i) | waarde eigenschap # | valores do atributo # | atributo # valor(es) | wartości atrybutu #
      | attribut # värde(n) | egenskab # værdi(er) | значение( я) аттрибута( ов) # | значения атрибутов #`,
    ignored: `attribute # name | attribut # name | nombre del atributo # | nom de l'attribut # | attributo # nome
      | nome dell'attributo # | naam eigenschap #
      | nome do atributo # | atributo # nome | nazwa atrybutu # | attribut # namn | egenskab # navn
      | имя атрибута # | название атрибута #`,
  },
  marks: [
    "@id | @sku | @kind | @title",
    `@saleStart | @policy | @option | regular price | regulärer preis | precio normal | tarif régulier | prezzo di listino
      | reguliere prijs | ordinarie pris | normalpris | in stock? | vorrätig? | ¿existencias? | ¿en inventario? | en stock ?
      | op voorraad? | em estoque? | em stock? | w magazynie? | i lager? | på lager? | visibility in catalog
      | sichtbarkeit im katalog | visibilidad en el catálogo | visibilité dans le catalogue | visibilità nel catalogo
      | zichtbaarheid in catalogus | visibilidade no catálogo | widoczność w katalogu | synlighet i katalog
      | synlighed i katalog (shoppens frontend) | базовая цена | в наличии? | видимость в каталоге`,
  ],
  rows: "parents",
  needsStock: true,
  kinds: { variation: "variant", variable: "parent", grouped: "unsold", external: "unsold", "": "product" },
  words: { stock: { parent: null } },
  escapesLines: true,
  escapesFormulas: true,
  parentNote: "products of type variable are not stored: their variations are.",
};
