/** The button and the shortcut that open the search. Its dialog is loaded on first use. */
import type { FunctionComponent } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { searchText as text } from "../text.ts";
import { notify } from "../ui/notices.tsx";
import type { PaletteProps } from "./palette.tsx";
import { rememberVisit } from "./visited.ts";

/** On a Mac, Ctrl+K deletes text to the end of the line. */
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

const isShortcut = ({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === "k" && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !altKey && !shiftKey;

/** A button that opens the search, as Ctrl+K or Cmd+K does on every screen. */
export function Search({ onLogOut }: Pick<PaletteProps, "onLogOut">) {
  const { path } = useLocation();
  const [dialog, setDialog] = useState<{ readonly Palette: FunctionComponent<PaletteProps> }>();
  const open = useCallback(async () => {
    try {
      const { Palette } = await import("./palette.tsx");
      // A second shortcut, or another dialog, while it was loading.
      if (document.querySelector("dialog[open]") === null) setDialog({ Palette });
    } catch {
      notify("bad", text.notLoaded);
    }
  }, []);
  const close = () => setDialog(undefined);
  useEffect(() => rememberVisit(path), [path]);
  useEffect(() => {
    const openOnShortcut = (event: KeyboardEvent) => {
      if (!isShortcut(event)) return;
      event.preventDefault();
      if (dialog) setDialog(undefined);
      else void open();
    };
    addEventListener("keydown", openOnShortcut);
    return () => removeEventListener("keydown", openOnShortcut);
  }, [open, dialog]);
  return (
    <>
      <button
        type="button"
        class="find"
        aria-haspopup="dialog"
        aria-keyshortcuts={isMac ? "Meta+K" : "Control+K"}
        onClick={() => void open()}
      >
        {text.open}{" "}
        <span class="keys" aria-hidden="true">
          {isMac ? text.keys.mac : text.keys.other}
        </span>
      </button>
      {dialog && <dialog.Palette onClose={close} onLogOut={onLogOut} />}
    </>
  );
}
