import { useState } from "preact/hooks";
import { query } from "../connection/api.js";
import { asFailure } from "../connection/failure.js";
import { useForm, FormDialog } from "./Elements.js";
import { saveShowMutation, showTimesQuery } from "../queries/show.js";
import { momentShowing, shownAt, timeZone } from "../timeZone.js";

interface Props {
  readonly token: string;
  readonly onSaved: (lsId: string) => void;
  readonly onClose: () => void;
}

/** A dialog to create a show, which is live at once, or scheduled if it starts later. */
export function NewShow({ token, onSaved, onClose }: Props) {
  const [show, setShow] = useState<NewShowValues>(() => ({
    name: "",
    startsAt: new Date(shownAt(Date.now())).toISOString().slice(0, 16),
    id: undefined,
  }));
  const form = useForm(async () => {
    const found = await problemOf(show, token);
    if (found === undefined) onSaved(idOf(show));
    return found;
  });

  return (
    <FormDialog name="new-show" heading="New show" action="Create show" form={form} onClose={onClose}>
      <Fields show={show} onChange={setShow} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly show: NewShowValues;
  readonly onChange: (show: NewShowValues) => void;
}

function Fields({ show, onChange }: FieldsProps) {
  const text = { dir: "auto", autocomplete: "off", required: true } as const;
  return (
    <>
      <label for="new-show-name">Name</label>
      <input
        id="new-show-name"
        {...text}
        maxLength={1_000}
        value={show.name}
        onInput={({ currentTarget }) => onChange({ ...show, name: currentTarget.value })}
      />
      <label for="new-show-start">Start</label>
      <input
        id="new-show-start"
        type="datetime-local"
        required
        value={show.startsAt}
        aria-describedby="new-show-start-hint"
        onInput={({ currentTarget }) => onChange({ ...show, startsAt: currentTarget.value })}
      />
      <p id="new-show-start-hint" class="muted small">
        A show that starts later is scheduled; any other is live at once. The time zone is {timeZone()}.
      </p>
      <label for="new-show-id">Id</label>
      <input
        id="new-show-id"
        {...text}
        maxLength={255}
        spellcheck={false}
        value={show.id ?? idOf(show)}
        aria-describedby="new-show-id-hint"
        onInput={({ currentTarget }) => onChange({ ...show, id: currentTarget.value })}
      />
      <p id="new-show-id-hint" class="muted small">
        Your shop reports what happens in the show by this id. It cannot be changed.
      </p>
    </>
  );
}

interface NewShowValues {
  readonly name: string;
  /** In the form of the browser's date and time inputs. */
  readonly startsAt: string;
  /** Undefined while the id is made from the name. */
  readonly id: string | undefined;
}

/** An invalid date if none was entered. */
function startOf({ startsAt }: NewShowValues): Date {
  const shown = Date.parse(`${startsAt}Z`);
  return new Date(Number.isNaN(shown) ? shown : momentShowing(shown));
}

/** Saves the show. @returns why it was not saved */
async function problemOf(show: NewShowValues, token: string): Promise<string | undefined> {
  const [id, name, startsAt] = [idOf(show), show.name.trim(), startOf(show)];
  if (name === "") return "Enter a name.";
  if (id === "") return "Enter an id.";
  if (Number.isNaN(startsAt.getTime())) return "Enter the start as a date and time.";
  const status = startsAt.getTime() > Date.now() ? "SCHEDULED" : "LIVE";
  try {
    if (await exists(id, token)) return `There is a show with the id ${id} already. Choose another id.`;
    await query(saveShowMutation, { liveStream: { id, name, status, startedAt: startsAt.toISOString() } }, { token });
    return undefined;
  } catch (error) {
    return asFailure(error).message;
  }
}

/** We check this first, because saving would change a show that has the id. */
async function exists(lsId: string, token: string): Promise<boolean> {
  try {
    await query(showTimesQuery, { lsId }, { token });
    return true;
  } catch (error) {
    if (asFailure(error).kind === "notFound") return false;
    throw error;
  }
}

/** The entered id, or the words of the name joined by dashes. */
function idOf({ id, name }: NewShowValues): string {
  if (id !== undefined) return id.trim();
  const words =
    name
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return Array.from(words.join("-")).slice(0, 80).join("");
}
