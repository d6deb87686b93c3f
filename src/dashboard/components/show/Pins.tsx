import { useMemo } from "preact/hooks";
import { formatCount, formatExactClock, formatInterval, type FormatMoney } from "../../format.js";
import type { PinFigures } from "../../queries/intervals.js";
import type { Pin } from "../../queries/show.js";
import { Announcement } from "../Elements.js";
import { type Interval, isWithin, placeOf } from "../TimelineChart.js";
import { cellsOf, columnsOf, type FigureColumn } from "./Intervals.js";

interface Props {
  readonly pins: readonly Pin[];
  /** Both ends of the chart above. */
  readonly axis: Interval;
  /** Whether this row is for keyboards and screen readers, too. Those below other charts are copies for pointers. */
  readonly isMain: boolean;
  /** The id of the pin whose figures are shown here. */
  readonly shown: string | undefined;
  readonly onShown: (id: string | undefined) => void;
  /** Of the pin that is shown; undefined until they have arrived. */
  readonly figures: PinFigures | undefined;
  readonly formatMoney: FormatMoney;
}

/** As many as base.css has. */
const colorCount = 6;

/** The name of a pinned product. The token may not read its title. */
export const nameOf = ({ product, title, productId }: Pin): string => product?.title ?? title ?? productId ?? "";

const spanOf = ({ startedAt, endedAt }: Pin): Interval => ({
  fromMs: Date.parse(startedAt),
  untilMs: endedAt === null ? Math.max(Date.now(), Date.parse(startedAt)) : Date.parse(endedAt),
});

export const isShownAt = (now: number, { startedAt, endedAt }: Pin): boolean =>
  Date.parse(startedAt) <= now && (endedAt === null || now < Date.parse(endedAt));

/** Pins as bands below a chart, in the color of their product. The pointer, a tap or the focus shows the figures of one. */
export function Pins({ pins, axis, isMain, shown, onShown, figures, formatMoney }: Props) {
  const pin = pins.find(({ id }) => id === shown);
  // Not again for each movement of the pointer: a show may have 2,000 pins.
  const bands = useMemo(() => <>{bandsOf(pins, axis, isMain, pin)}</>, [pins, axis.fromMs, axis.untilMs, pin]);
  const columns: readonly FigureColumn<PinFigures>[] = [
    ...columnsOf(formatMoney),
    ["Sales of the product", ({ ofProduct }) => ofProduct?.sales, formatMoney],
    ["Orders of the product", ({ ofProduct }) => ofProduct?.orders, formatCount],
    ["Within 30 min of adding", ({ ofProduct }) => ofProduct?.ordersWithin, formatCount],
  ];
  const rows = cellsOf(columns, figures).map((cell, index) => [columns[index]?.[0], cell]);
  const show = ({ target }: Event) => {
    const { id } = (target as HTMLElement).dataset;
    if (id !== undefined) onShown(id);
  };
  const hide = () => onShown(undefined);
  return (
    <div
      class="pins"
      {...(isMain ? { role: "toolbar", "aria-label": "Pinned products" } : { "aria-hidden": true })}
      onMouseOver={show}
      onMouseLeave={hide}
      onFocusIn={show}
      onFocusOut={hide}
      onKeyDown={moveFocus}
    >
      {bands}
      {pin !== undefined && (
        <div class="card small pin-figures" style={{ "--at": placeOf(spanOf(pin), axis).left }}>
          <strong dir="auto">{nameOf(pin)}</strong>
          <p class="muted">
            {pin.endedAt === null
              ? `since ${formatExactClock(spanOf(pin).fromMs)}`
              : formatInterval(spanOf(pin).fromMs, spanOf(pin).untilMs)}
          </p>
          <dl>
            {rows.map(([name, value]) => (
              <div key={name}>
                <dt class="muted">{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
      {isMain && <Announcement of={figures && pin?.id} text={pin && figures ? rows.join("; ") : ""} />}
    </div>
  );
}

function bandsOf(pins: readonly Pin[], axis: Interval, isMain: boolean, pin: Pin | undefined) {
  const products = [...new Set(pins.map(({ productId }) => productId))]; // a later pin does not change their order
  const colors = new Map(products.map((productId, index) => [productId, `var(--pin-${index % colorCount})`]));
  const Band = isMain ? "button" : "span";
  const visible = pins.filter((each) => isWithin(spanOf(each), axis) || isShownAt(Date.now(), each)); // a chart may end before now
  const focusable = pin ?? visible.at(-1);
  return visible.map((each) => (
    <Band
      key={each.id}
      class="pin"
      dir="auto"
      data-id={each.id}
      style={{ ...placeOf(spanOf(each), axis), "--pin": colors.get(each.productId) }}
      {...(isMain && { type: "button", tabIndex: each === focusable ? 0 : -1 })}
    >
      {nameOf(each)}
    </Band>
  ));
}

/** Moves the focus from band to band. Together, they are one stop of the Tab key. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const bands = [...event.currentTarget.querySelectorAll("button")];
  const at = bands.indexOf(event.target as HTMLButtonElement);
  const moves = new Map([
    ["ArrowLeft", at - 1],
    ["ArrowRight", at + 1],
    ["Home", 0],
    ["End", bands.length - 1],
  ]);
  const next = bands[moves.get(event.key) ?? -1];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
