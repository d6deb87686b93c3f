interface Props {
  readonly label: string;
  readonly isSorted: boolean;
  readonly isAscending?: boolean;
  readonly onSort: () => void;
}

export function SortHeader({ label, isSorted, isAscending = false, onSort }: Props) {
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
