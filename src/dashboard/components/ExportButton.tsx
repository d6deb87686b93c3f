import { useState } from "preact/hooks";
import { asFailure } from "../connection/failure.js";

/** Saves a file for spreadsheets. @param props.save makes it, and throws why it cannot */
export function ExportButton({ save }: { readonly save: () => Promise<void> | void }) {
  const [problem, setProblem] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const start = async () => {
    if (isSaving) return;
    setSaving(true);
    setProblem(undefined);
    try {
      await save();
    } catch (error) {
      setProblem(asFailure(error).message);
    }
    setSaving(false);
  };
  return (
    <>
      <button type="button" title="Save as CSV" aria-disabled={isSaving} onClick={() => void start()}>
        {isSaving ? "Exporting…" : "Export"}
      </button>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
