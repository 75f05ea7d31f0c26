/** Questions in front of the page. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

/** A dialog that is open for as long as it is there. Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks for an object's name to be typed before it is deleted. */
export function ConfirmDelete({
  kind,
  name,
  consequence,
  onConfirm,
  onClose,
}: {
  kind: string;
  name: string;
  /** What goes with it. */
  consequence: string;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title={`Delete ${kind} ${name}?`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) onConfirm();
        }}
      >
        <p>{consequence} This can not be undone.</p>
        <label class="field">
          <span>
            Type <strong>{name}</strong> to delete it
          </span>
          <input
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger primary" disabled={typed !== name}>
            Delete
          </button>
        </div>
      </form>
    </Dialog>
  );
}
