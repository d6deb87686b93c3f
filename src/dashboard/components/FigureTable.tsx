import type { ComponentChildren } from "preact";

export interface FigureTableProps<Row> {
  /** Of the first column, which says what a row is about. */
  readonly head: string;
  readonly columns: readonly (readonly [head: string, cellOf: (row: Row) => string])[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly nameOf: (row: Row) => ComponentChildren;
  readonly class?: string;
}

/** Rows of figures. On a phone each row is a block, in which every figure has the head of its column. */
export function FigureTable<Row>({ head, columns, rows, keyOf, nameOf, class: name = "" }: FigureTableProps<Row>) {
  return (
    <table class={`${name} stacked`.trim()}>
      <thead>
        <tr>
          <th scope="col">{head}</th>
          {columns.map(([column]) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
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
