import { useRef } from "preact/hooks";

interface Props {
  /** From 1. */
  readonly page: number;
  readonly isFirst: boolean;
  /** The cursor of the next page; null where there is none. */
  readonly next: string | null | undefined;
  readonly text: string;
  /** @param after the cursor that the page begins after; undefined for the first page */
  readonly onPage: (after: string | undefined, page: number) => void;
}

/** Cursors lead forward: the page before is known if one came from there, and else the first is offered. */
export function Pager({ page, isFirst, next, text, onPage }: Props) {
  const cursors = useRef(new Map<number, string | undefined>([[1, undefined]]));
  const before = page - 1;
  const isKnown = cursors.current.has(before);
  const goNext = () => {
    if (typeof next !== "string") return;
    cursors.current.set(page + 1, next);
    onPage(next, page + 1);
  };
  const goBack = () => (isKnown ? onPage(cursors.current.get(before), before) : onPage(undefined, 1));
  return (
    <div class="pager">
      <p class="muted small">{text}</p>
      {!isFirst && (
        <button type="button" onClick={goBack}>
          {isKnown ? "Previous" : "First page"}
        </button>
      )}
      {typeof next === "string" && (
        <button type="button" onClick={goNext}>
          Next
        </button>
      )}
    </div>
  );
}
