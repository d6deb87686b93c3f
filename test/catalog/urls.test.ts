import { describe, expect, test } from "vitest";
import { checkProduct } from "../../src/files/product/product.input.js";
import { Problems } from "../../src/errors.js";
import { product } from "../support/products.js";

test("however often URLs are checked, they are URLs", () => {
  const urls = ["http://größe.example/34.jpg", "https://a.example/é", "//例え.jp/ü"];
  let refused = 0;
  for (let time = 0; time < 50_000; time += 1) {
    const url = urls[time % urls.length];
    if (!checkProduct(product("a", { url }), { path: [] }, new Problems())) refused += 1;
  }
  expect(refused).toBe(0);
});

test.each(["http://ö:99999/", "http://", "https://a b/", "ftp://ö.example", "http://[ö]/"])(
  "%s is not a URL",
  (url) => {
    const problems = new Problems();
    expect(checkProduct(product("a", { url }), { path: [] }, problems)).toBe(false);
    expect(problems.list.map(({ path }) => path)).toEqual([["url"]]);
  },
);

describe("several URLs in one text", () => {
  const [one, other] = ["https://a.example/1.jpg", "https://a.example/2.jpg"];
  const several = [
    `${one}|${other}`,
    `${one}, ${other}`,
    `${one} ${other}`,
    `${one}\u00a0${other}`,
    `${one} |${other}ö`,
    `${one};${other}`,
    `${one},${other}`,
    `${one};HTTP://a.example/2.jpg`,
  ];

  test.each(several)("are refused, and the message says how several images are written: %j", (text) => {
    for (const field of ["images", "url", "featured_image"] as const) {
      const problems = new Problems();
      const value = field === "images" ? [one, text] : text;
      expect(checkProduct(product("a", { [field]: value }), { path: [] }, problems)).toBe(false);
      const path = field === "images" ? ["images", 1] : [field];
      const name = field === "images" ? "images[1]" : field;
      expect(problems.list).toEqual([{ code: "INVALID_VALUE", message: expect.any(String), path }]);
      const message = problems.list.map((problem) => problem.message).join("");
      expect(message).toContain(`${name} must be one URL, without spaces or "|", not "${one}`);
      expect(message).toMatch(/"\. Several images are written as a JSON array of URLs\.$/u);
    }
  });

  test("are not separated by commas within a URL", () => {
    const url = "https://a.example/fit,200,100/1.jpg?sizes=1,2";
    expect(checkProduct(product("a", { images: [url], url }), { path: [] }, new Problems())).toBe(true);
  });
});
