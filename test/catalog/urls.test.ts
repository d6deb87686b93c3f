import { expect, test } from "vitest";
import { checkProduct } from "../../src/catalog/product.input.js";
import { Problems } from "../../src/errors.js";
import { product } from "../support/products.js";

test.each(["http://größe.example/3 4.jpg", "https://a.example/é", "//例え.jp/ü"])(
  "however often %s is checked, it is a URL",
  (url) => {
    let refused = 0;
    for (let time = 0; time < 50_000; time += 1) {
      if (!checkProduct(product("a", { url }), { path: [] }, new Problems())) refused += 1;
    }
    expect(refused).toBe(0);
  },
);

test.each(["http://ö:99999/", "http://", "https://a b/", "ftp://ö.example", "http://[ö]/"])("%s is none", (url) => {
  const problems = new Problems();
  expect(checkProduct(product("a", { url }), { path: [] }, problems)).toBe(false);
  expect(problems.list.map(({ path }) => path)).toEqual([["url"]]);
});
