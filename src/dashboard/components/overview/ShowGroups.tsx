import { useMemo } from "preact/hooks";
import { formatCount, formatHour, formatWeekday, moneyFormat } from "../../format.js";
import type { useOverview } from "../../hooks/useOverview.js";
import { type Grouping, groupsOf, type ShowGroup } from "../../overview/range.js";
import { timeZone } from "../../timeZone.js";
import { Segments } from "../Elements.js";
import { FigureTable, type FigureTableProps } from "../FigureTable.js";
import { Bar } from "../show/Rankings.js";
import { CutNote } from "./StoreTimeline.js";

interface Props {
  readonly shows: NonNullable<ReturnType<typeof useOverview>["shows"]["value"]>;
  readonly isCurrent: boolean;
  readonly currency: string | null | undefined;
  readonly by: Grouping;
  readonly onBy: (by: Grouping) => void;
}

const groupings = [
  ["host", "Host"],
  ["weekday", "Weekday"],
  ["hour", "Hour"],
] as const;

/** Figures of shows by their host, and by the weekday or hour of their start. */
export function ShowGroups({ shows: { shows, isCut }, isCurrent, currency, by, onBy }: Props) {
  const groups = useMemo(() => groupsOf(shows, by), [shows, by]);
  if (shows.length === 0) return null;
  return (
    <section class="card" aria-labelledby="groups-heading" aria-busy={!isCurrent}>
      <header class="card-header">
        <div>
          <h2 id="groups-heading">Shows by {by === "host" ? "host" : `${by} of their start`}</h2>
          <p class="muted small">{by !== "host" && `The time zone is ${timeZone()}.`}</p>
        </div>
        <Segments legend="Shows by" options={groupings} value={by} onChange={onBy} />
      </header>
      <GroupTable groups={groups} by={by} formatMoney={moneyFormat(currency)} />
      {isCut && <CutNote count={shows.length} />}
    </section>
  );
}

const nameOf: Readonly<Record<Grouping, (key: ShowGroup["key"]) => string>> = {
  host: (key) => (key === "" ? "Without a host" : `${key}`),
  weekday: (key) => formatWeekday(Number(key)),
  hour: (key) => formatHour(Number(key)),
};

interface TableProps extends Pick<Props, "by"> {
  readonly groups: readonly ShowGroup[];
  readonly formatMoney: (value: number) => string;
}

function GroupTable({ groups, by, formatMoney }: TableProps) {
  const most = Math.max(1, ...groups.map(({ netSales, shows }) => netSales / shows));
  return (
    <div class="scroll wide" tabIndex={0} role="region" aria-label="Groups of shows">
      <FigureTable
        class="product-table"
        head={groupings.find(([key]) => key === by)?.[1] ?? ""}
        columns={columnsOf(formatMoney)}
        rows={groups}
        keyOf={({ key }) => key}
        nameOf={({ key, netSales, shows }) => (
          <>
            <span dir="auto">{nameOf[by](key)}</span>
            <Bar share={Math.max(0, netSales / shows / most)} />
          </>
        )}
      />
    </div>
  );
}

function columnsOf(formatMoney: TableProps["formatMoney"]): FigureTableProps<ShowGroup>["columns"] {
  return [
    ["Shows", ({ shows }) => formatCount(shows)],
    ["Net sales", ({ netSales }) => formatMoney(netSales)],
    ["Net sales of a show", ({ netSales, shows }) => formatMoney(netSales / shows)],
    ["Orders", ({ orders }) => formatCount(orders)],
    ["Viewers of a show", ({ viewers, shows }) => formatCount(Math.round(viewers / shows))],
  ];
}
