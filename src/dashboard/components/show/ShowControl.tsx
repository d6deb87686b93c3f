import { useState } from "preact/hooks";
import { query } from "../../connection/api.js";
import { asFailure } from "../../connection/failure.js";
import { useForm } from "../../hooks/useForm.js";
import { saveShowMutation, savedShowQuery, type ShowAnalytics } from "../../queries/show.js";
import { FormDialog } from "../Elements.js";

interface Props extends Pick<ShowAnalytics, "name" | "status"> {
  readonly token: string;
  readonly lsId: string;
}

const steps = {
  SCHEDULED: { action: "Start", next: "LIVE", says: "The show starts now, and its viewers are counted from now on." },
  LIVE: { action: "End", next: "ENDED", says: "The show ends now. Who watches from now on sees its replay." },
} as const;
type Step = (typeof steps)[keyof typeof steps];

/** Starts a show that is scheduled, or ends one that runs, after a question. */
export function ShowControl({ status, ...show }: Props) {
  const [asked, setAsked] = useState<Step>();
  const step = status === "SCHEDULED" || status === "LIVE" ? steps[status] : undefined;
  return (
    <>
      {step !== undefined && (
        <button type="button" aria-haspopup="dialog" onClick={() => setAsked(step)}>
          {step.action} show
        </button>
      )}
      {asked !== undefined && <Question {...show} step={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface QuestionProps extends Omit<Props, "status"> {
  readonly step: Step;
  readonly onClose: () => void;
}

function Question({ token, lsId, name, step, onClose }: QuestionProps) {
  const form = useForm(async () => {
    const problem = await problemOf(lsId, step, token);
    if (problem === undefined) onClose();
    return problem;
  });
  const heading = (
    <>
      {step.action} <bdi>{name}</bdi>?
    </>
  );
  return (
    <FormDialog name="show-control" heading={heading} action={`${step.action} now`} form={form} onClose={onClose}>
      <p class="muted">{step.says}</p>
    </FormDialog>
  );
}

/** Saves the show with its next status and all else as it is. @returns why it was not saved */
async function problemOf(lsId: string, { next }: Step, token: string): Promise<string | undefined> {
  try {
    const { liveStream: saved } = await query(savedShowQuery, { lsId }, { token });
    if (saved === null) throw asFailure(undefined); // the query has thrown the error that says why
    const { status, startedAt, ...same } = saved;
    if (status === next) return undefined; // by somebody else
    const now = new Date();
    const durationSeconds = Math.max(0, Math.floor((now.getTime() - Date.parse(startedAt)) / 1_000));
    const times = next === "LIVE" ? { startedAt: now.toISOString() } : { startedAt, durationSeconds };
    await query(saveShowMutation, { liveStream: { ...same, ...times, status: next } }, { token });
    return undefined;
  } catch (error) {
    return asFailure(error).message;
  }
}
