/** Modal dialogs. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { deletionText as text } from "./object/text.ts";

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
    <Dialog title={text.title(kind, name)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) onConfirm();
        }}
      >
        <p>
          {consequence} {text.final}
        </p>
        <label class="field">
          <span>
            {text.confirm.before} <strong>{name}</strong> {text.confirm.after}
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
            {text.cancel}
          </button>
          <button type="submit" class="danger primary" disabled={typed !== name}>
            {text.delete}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
