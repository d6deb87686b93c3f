import { formatCount } from "../format.js";
import type { ShowAnalytics } from "../operations.js";
import { Bar } from "./Bar.js";

/** The products most often put into carts, by their title as far as the catalog knows them. */
export function TopProducts({ products }: { readonly products: ShowAnalytics["topProducts"] }) {
  const most = products[0]?.carts ?? 1;
  return (
    <section class="card" aria-labelledby="products-heading">
      <h2 id="products-heading">Top products</h2>
      {products.length === 0 ? (
        <p class="muted">No product has been put into a cart yet.</p>
      ) : (
        <table class="ranking">
          <thead>
            <tr>
              <th scope="col">Product</th>
              <th scope="col">Added to cart</th>
            </tr>
          </thead>
          <tbody>
            {products.map(({ productId, carts, product }) => (
              <tr key={productId}>
                <th scope="row">
                  <span class="name">{product?.title ?? productId}</span>
                  <Bar share={carts / most} />
                </th>
                <td>{formatCount(carts)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
