import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** How a table is sorted by a column whose head is a button. */
interface Sort {
  readonly isSorted: boolean;
  readonly isAscending?: boolean;
  readonly onSort: () => void;
}

export interface FigureTableProps<Row> {
  /** The head of the first column, which names what a row is about. */
  readonly head: string;
  readonly columns: readonly (readonly [head: string, cellOf: (row: Row) => string, sort?: Sort])[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly nameOf: (row: Row) => ComponentChildren;
  readonly class?: string;
}

/** Rows of figures. On a phone, each row is a block, and each figure shows the head of its column. */
export function FigureTable<Row>({ head, columns, rows, keyOf, nameOf, class: name = "" }: FigureTableProps<Row>) {
  return (
    <table class={`${name} stacked`.trim()}>
      <thead>
        <tr>
          <th scope="col">{head}</th>
          {columns.map(([column, , sort]) =>
            sort === undefined ? (
              <th key={column} scope="col">
                {column}
              </th>
            ) : (
              <SortHeader key={column} label={column} {...sort} />
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            <th scope="row">{nameOf(row)}</th>
            {columns.map(([column, cellOf]) => (
              <td key={column} data-label={column}>
                {cellOf(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function SortHeader({ label, isSorted, isAscending = false, onSort }: Sort & { readonly label: string }) {
  return (
    <th scope="col" aria-sort={isSorted ? (isAscending ? "ascending" : "descending") : undefined}>
      <button type="button" class="sort" onClick={onSort}>
        <span class="arrow" aria-hidden="true">
          {isSorted && (isAscending ? "▲" : "▼")}
        </span>
        {label}
      </button>
    </th>
  );
}

interface PointTableProps<Point> {
  readonly label: string;
  readonly columns: FigureTableProps<Point>["columns"];
  readonly points: readonly Point[];
  readonly isEmpty: (point: Point) => boolean;
  readonly formatTime: (ms: number) => string;
}

/** The points of a chart that are not empty, rendered when the table is opened. */
export function PointTable<Point extends { readonly startsAtMs: number }>(props: PointTableProps<Point>) {
  const { label, columns, points, isEmpty, formatTime } = props;
  const [isOpen, setOpen] = useState(false);
  const busy = isOpen ? points.filter((point) => !isEmpty(point)) : [];
  return (
    <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="muted small">Show as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <FigureTable
          head="From"
          columns={columns}
          rows={busy}
          keyOf={({ startsAtMs }) => startsAtMs}
          nameOf={({ startsAtMs }) => formatTime(startsAtMs)}
        />
      </div>
    </details>
  );
}
