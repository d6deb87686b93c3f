import { useState } from "preact/hooks";
import { FigureTable, type FigureTableProps } from "../FigureTable.js";

interface Props<Point> {
  readonly label: string;
  readonly columns: FigureTableProps<Point>["columns"];
  readonly points: readonly Point[];
  readonly isEmpty: (point: Point) => boolean;
  readonly formatTime: (ms: number) => string;
}

/** The points of a chart that are not empty, rendered once opened. */
export function PointTable<Point extends { readonly startsAtMs: number }>(props: Props<Point>) {
  const { label, columns, points, isEmpty, formatTime } = props;
  const [isOpen, setOpen] = useState(false);
  const busy = isOpen ? points.filter((point) => !isEmpty(point)) : [];
  return (
    <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Show as a table</summary>
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
