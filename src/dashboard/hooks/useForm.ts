import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";

/**
 * A form that is sent once at a time.
 *
 * @param send returns why it was refused
 * @param first the problem that is shown before
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
