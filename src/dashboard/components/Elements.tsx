import type { ComponentChildren, TargetedSubmitEvent, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";
import icon from "../icon.svg";
import { queryOf, type View } from "../overview/view.js";

export function Brand() {
  return (
    <p class="brand">
      <img src={icon} alt="" width="28" height="28" />
      Vitrine
    </p>
  );
}

const labels: Readonly<Record<LiveStreamStatus, string>> = {
  SCHEDULED: "Scheduled",
  LIVE: "Live",
  ENDED: "Ended",
  ARCHIVED: "Archived",
};

export function StatusBadge({ status }: { readonly status: LiveStreamStatus }) {
  return <span class={`badge ${status.toLowerCase()}`}>{labels[status]}</span>;
}

/** Announces what is wrong with a form. Without a text, it shows nothing. */
export function Problem({ id, text }: { readonly id?: string; readonly text: string | undefined }) {
  return (
    <p {...(id !== undefined && { id })} class="problem" role="alert">
      {text}
    </p>
  );
}

/** Announces a text when it is about something else, and not when its figures change. */
export function Announcement({ text, of }: { readonly text: string; readonly of: unknown }) {
  const announced = useMemo(() => text, [of]);
  return (
    <p class="hidden" role="status">
      {announced}
    </p>
  );
}

interface TileProps {
  readonly name: string;
  /** Such as `total` or `average`. */
  readonly of: string;
  readonly value: string;
  readonly children: ComponentChildren;
}

/** A figure, with details below it. */
export function Tile({ name, of, value, children }: TileProps) {
  return (
    <article class="tile">
      <h3>
        {name} <small class="muted small">{of}</small>
      </h3>
      <p class="value">{value}</p>
      {children}
    </article>
  );
}

/** A placeholder until the tiles have arrived. */
export function Skeleton({ label, tiles }: { readonly label: string; readonly tiles: 6 | 8 }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {tiles === 6 && <div class="line" />}
      <div class={tiles === 6 ? "tiles" : "tiles four"}>
        {Array.from({ length: tiles }, (_, index) => (
          <div key={index} class="tile" />
        ))}
      </div>
    </div>
  );
}

/** We wait this long after the last key, so that not every letter is a call. */
const typingMs = 300;

interface SearchInputProps {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

export function SearchInput({ label, value, onSearch }: SearchInputProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // The back button changed it, or our own call of onSearch.
    setKnown(value);
    if (value !== typed) setTyped(value);
  }
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => onSearch(typed), typingMs);
    return () => clearTimeout(timer);
  }, [typed, value, onSearch]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder="Search"
      dir="auto"
      maxLength={200}
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  );
}

interface SegmentsProps<Value extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [Value, string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** Radio buttons that look like one control. */
export function Segments<Value extends string>({ legend, options, value, onChange }: SegmentsProps<Value>) {
  return (
    <fieldset class="segments">
      <legend class="hidden">{legend}</legend>
      {options.map(([option, label]) => (
        <label key={option}>
          <input type="radio" name={legend} checked={option === value} onChange={() => onChange(option)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface FormDialogProps {
  /** The prefix of its elements' ids. */
  readonly name: string;
  readonly heading: ComponentChildren;
  /** The label of the button that sends the form. */
  readonly action: string;
  readonly form: {
    readonly problem: string | undefined;
    readonly isSending: boolean;
    readonly onSubmit: (event: TargetedSubmitEvent<HTMLFormElement>) => void;
  };
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A form in a dialog, which Escape closes. */
export function FormDialog({ name, heading, action, form, onClose, children }: FormDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="card" aria-labelledby={`${name}-heading`} onClose={onClose}>
      <form class="fields" onSubmit={form.onSubmit}>
        <h2 id={`${name}-heading`}>{heading}</h2>
        {children}
        <Problem text={form.problem} />
        <div class="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button class="primary" type="submit" aria-disabled={form.isSending}>
            {form.isSending ? "Saving…" : action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

interface LinkProps {
  readonly view: View;
  readonly onFollow: (view: View) => void;
  readonly anchor?: RefObject<HTMLAnchorElement | null>;
  readonly class?: string;
  readonly dir?: "auto";
  readonly "aria-label"?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly children: ComponentChildren;
}

/** A link to another view. With a modifier key, it opens another tab or window, like any link. */
export function Link({ view, onFollow, anchor, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onFollow(view);
  };
  return <a {...rest} {...(anchor && { ref: anchor })} href={queryOf(view)} onClick={follow} />;
}

/**
 * A form that cannot be sent again while it is being sent.
 *
 * @param send returns the problem if the form was refused
 * @param first the problem to show before the form is sent
 */
export function useForm(send: () => Promise<string | undefined>, first?: string) {
  const [problem, setProblem] = useState(first);
  const [isSending, setSending] = useState(false);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    const found = await send();
    setSending(false);
    if (found !== undefined) setProblem(found);
  };
  return { problem, isSending, onSubmit: (event: TargetedSubmitEvent<HTMLFormElement>) => void submit(event) };
}
