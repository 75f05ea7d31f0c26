/** Modal dialogs. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A modal dialog, open while it is mounted. Escape closes it. The focus returns to the element that opened it. */
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
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => focusAfter(opener);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** A submitted dialog is removed without being closed, so the browser does not return the focus itself. */
function focusAfter(opener: Element | null): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const next = opener?.isConnected ? opener : document.getElementById("content");
    if (next instanceof HTMLElement) next.focus();
  });
}

/** Confirms a deletion: the user must type the object's name. */
export function ConfirmDelete({
  kind,
  name,
  consequence,
  onConfirm,
  onClose,
}: {
  kind: string;
  name: string;
  /** What the deletion affects. */
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
        <p>{consequence} This cannot be undone.</p>
        <label class="field">
          <span>
            Type <strong>{name}</strong> to confirm
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
