import { formatCount, moneyFormat } from "../../format.js";
import type { BestProduct } from "../../queries/store.js";
import type { ProductColumn } from "../../overview/view.js";
import { CatalogHint, ProductName } from "../show/Rankings.js";
import { FigureTable } from "../FigureTable.js";

interface Props {
  readonly products: readonly BestProduct[];
  readonly withCatalog: boolean;
  readonly isCurrent: boolean;
  readonly currency: string | null | undefined;
  readonly order: ProductColumn;
  readonly onOrder: (order: ProductColumn) => void;
}

const columns = [
  ["sales", "Sales"],
  ["orders", "Orders"],
  ["quantity", "Quantity"],
  ["carts", "Added to cart"],
  ["shows", "Shows"],
] as const;

/** The top products by a figure. Shows the id if the catalog has no title, or if the token may not read it. */
export function ProductTable({ products, withCatalog, isCurrent, currency, order, onOrder }: Props) {
  const most = Math.max(1, ...products.map((product) => product[order]));
  const formatMoney = moneyFormat(currency);
  return (
    <section class="card" aria-labelledby="best-products-heading" aria-busy={!isCurrent}>
      <header class="card-header">
        <h2 id="best-products-heading">Best products</h2>
      </header>
      {products.length === 0 ? (
        <p class="muted">No product has been put into a cart or ordered in this time.</p>
      ) : (
        <div class="scroll wide" tabIndex={0} role="region" aria-label="Products">
          <FigureTable
            class="product-table"
            head="Product"
            columns={columns.map(([column, label]) => [
              label,
              (product: BestProduct) => (column === "sales" ? formatMoney : formatCount)(product[column]),
              { isSorted: column === order, onSort: () => onOrder(column) },
            ])}
            rows={products}
            keyOf={({ productId }) => productId}
            nameOf={(product) => <ProductName {...product} share={product[order] / most} />}
          />
        </div>
      )}
      {!withCatalog && products.length > 0 && <CatalogHint />}
    </section>
  );
}
