/** A dialog for the text of a `.env` file. */
import { useId, useState } from "preact/hooks";
import { Dialog } from "../dialog.tsx";
import { type Assignment, parseDotenv } from "./dotenv.ts";
import { About } from "./group.tsx";
import { text } from "./text.ts";

/** Reports the variables and closes. Text with lines that are no variables stays, with their numbers. */
export function PasteDialog({
  onAdd,
  onClose,
}: {
  onAdd: (variables: readonly Assignment[]) => void;
  onClose: () => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [wasSent, setWasSent] = useState(false);
  const { variables, unknownLines } = parseDotenv(typed);
  const problem =
    unknownLines.length > 0
      ? text.paste.unknown(unknownLines)
      : variables.length === 0
        ? text.paste.empty
        : undefined;
  const add = () => {
    setWasSent(true);
    if (problem !== undefined) return;
    onAdd(variables);
    onClose();
  };
  return (
    <Dialog title={text.paste.title} onClose={onClose}>
      <div class="stack">
        <div class="field">
          <label for={id}>{text.paste.label}</label>
          <textarea
            id={id}
            rows={8}
            spellcheck={false}
            autocomplete="off"
            aria-describedby={`${id}-about`}
            aria-invalid={wasSent && problem !== undefined}
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <About id={`${id}-about`} hint={text.paste.hint} problem={wasSent ? problem : undefined} />
        </div>
        <div class="actions">
          <button type="button" onClick={onClose}>
            {text.paste.cancel}
          </button>
          <button type="button" class="primary" onClick={add}>
            {text.paste.add}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
