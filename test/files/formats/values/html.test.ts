import * as fc from "fast-check";
import { expect, test } from "vitest";
import { plainText } from "../../../../src/files/formats/values/html.js";

test.each([
  [
    '<h2>Care</h2><p>Wash&nbsp;at 30&deg;,<br>do not <b>iron</b>.</p><ol><li>One<li>Two</ol><script>x()</script><a href="https://a.example">more</a><img src="b.jpg">',
    "Care\nWash at 30°,\ndo not iron.\n1. One\n2. Two\nmore",
  ],
  ["<p>a</p>\n\n<p>b</p><br><br><br>c", "a\nb\n\nc"],
  ["<b>bold</b>er <i> x </i>y", "bolder x y"],
  ["<ul><li>a<ul><li>b</ul></li><li></li><li>c</ul>", "- a\n- b\n- c"],
  ['<ol start="3"><li>x</li><li><p>y</p></li></ol><li>z', "3. x\n4. y\n- z"],
  ["<table><tr><th>Size<th>Width<tr><td>38</td><td colspan=2>10</td></tr></table>", "Size Width\n38 10"],
  ["<pre>a\n  b\n\n\n\nc</pre>d", "a\nb\n\nc\nd"],
  ["a<video><video>b</video>b</video>c<svg/>d<style>e", "acd"],
  ["&lt;p&gt; &amp;#38; &#x1F600;&#10;&copy", "<p> &#38; 😀 ©"],
  ["<title>t</title><body><!-- c --><![CDATA[d]]><o:p>e</o:p>", "de"],
])("%j becomes lines", (html, text) => {
  expect(plainText(html)).toBe(text);
});

test.each(["5 < 6 and 7 > 6", "M&M's & more", "a <b", " two\nlines ", "Sizes <M>, <XXL> and a<c> b", "<3 hearts>"])(
  "%j, which is not HTML, stays as it is",
  (text) => {
    expect(plainText(text)).toBe(text.trim());
  },
);

test("a list counts by whole numbers, whatever its type and start are", () => {
  const numbers = ["1e9", "1000000000", "999999999999999999999999", "-1.5", "Infinity", "0x10", "", "x"];
  for (const start of numbers) expect(plainText(`<ol type=I start="${start}"><li>a`)).toBe("1. a");
  for (const start of [0, -3, 4_000, 999_999]) {
    expect(plainText(`<ol type=i start=${start}><li>a<li>b`)).toBe(`${start}. a\n${start + 1}. b`);
  }
});

const hostile = {
  "a cell over a billion columns": "<table><tr><td colspan=1000000000 rowspan=1000000000>x",
  "cells over all columns": "<table>".concat("<tr><td colspan=200000 rowspan=65534>x".repeat(25_000)),
  cells: "<td>".repeat(250_000),
  "nested lists": "<ol start=999999><li>x".repeat(45_000),
  "elements that are closed by other names": "<b>".repeat(180_000) + "</i>".repeat(120_000),
  "tags without an end": "<a".repeat(500_000),
  "less-than signs": `${"<".repeat(1_000_000)}<p>`,
  ampersands: `<p>${"&".repeat(1_000_000)}`,
  entities: "&amp;".repeat(200_000),
  "numbers of entities": `<p>&#${"1".repeat(1_000_000)};`,
  "names of entities": `<p>${"&CounterClockwiseContourIntegra".repeat(33_000)}`,
  comments: "<!--".repeat(250_000),
  attributes: `<p ${"a=b ".repeat(250_000)}>`,
  "an attribute": `<ol start="${"1".repeat(1_000_000)}">`,
  "hidden elements": "<video>".repeat(140_000),
  "white space": `<p>${" \u{a0}".repeat(500_000)}`,
  "line breaks": `<pre>${"\n".repeat(1_000_000)}`,
};

// Quadratic time would be minutes: the time that a test has is the bound.
test.each(Object.entries(hostile))("1 MB of %s takes little time and memory", (_, html) => {
  const before = process.memoryUsage.rss();
  const text = plainText(html);
  expect(process.memoryUsage.rss() - before).toBeLessThan(200e6);
  expect(text.length).toBeLessThanOrEqual(html.length);
});

test("any text becomes a text that is no longer, and has no two empty lines where it is HTML", () => {
  const part = fc.constantFrom(
    "<p>",
    "</p>",
    "<li>",
    "</ol>",
    "<ol start=7>",
    "<pre>",
    "<td>",
    "&amp;",
    "\n",
    " ",
    "x<",
    "<br/>",
  );
  const html = fc
    .array(fc.oneof(part, fc.string({ unit: "binary" })), { maxLength: 40 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(html, (one) => {
      const text = plainText(one);
      expect(text.length).toBeLessThanOrEqual(one.length);
      expect(text).not.toContain("undefined");
      if (one.includes("<p>")) expect(text).not.toMatch(/\n{3}/u);
    }),
  );
});

test.each([
  ['[vc_row css=".vc_1{margin: 0}"][vc_column width="1/2"]Warm[/vc_column][/vc_row]', "Warm"],
  ["[vc_column_text]<p>Warm</p>[/vc_column_text][vc_empty_space]<p>soft</p>", "Warm\nsoft"],
  [
    "[et_pb_section fb_built=”1″][et_pb_text]Warm[/et_pb_text][et_pb_text]Soft[/et_pb_text][/et_pb_section]",
    "Warm\n\nSoft",
  ],
  ['[caption id="a"]<img src="1.jpg"> A mug[/caption] [gallery ids="1,2"]', "A mug"],
  ["[vc_raw_html]JTNDcCUzRQ==[/vc_raw_html]Warm [embed]https://a.example/v[/embed]", "Warm"],
  ['{{widget type="Magento\\\\Catalog\\\\Block" id="1"}}Warm<img src="{{media url="a/b.jpg"}}">', "Warm"],
  ["{{depend x}}Warm{{/depend}} {{block id='a'}}", "Warm"],
  ["{{ widget type='x' }}Warm [youtube https://youtu.be/x]", "Warm"],
  ["Shirt [M]", "Shirt [M]"],
  ["[M] <b>shirt</b>, [sic], [1] and [size m=38]", "[M] shirt, [sic], [1] and [size m=38]"],
  ["[[gallery]] and {{name}} and {M}", "[[gallery]] and {{name}} and {M}"],
])("the code of page builders is no text: %j", (text, expected) => {
  expect(plainText(text)).toBe(expected);
});

test("text made of brackets takes linear time", () => {
  for (const part of ["[", "[a ", "[a_b", "{{widget ", "[/a]", '[a b="', "[embed]"]) {
    const before = process.cpuUsage();
    plainText(part.repeat(1_000_000 / part.length));
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
  }
});
