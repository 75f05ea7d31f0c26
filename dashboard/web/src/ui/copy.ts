/** Copies text to the clipboard, and shows for a moment that it did. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** `selected`: the browser has no clipboard for the page (plain HTTP, a refusal), so the text is selected for the user to copy. */
export type CopyState = "idle" | "copied" | "selected";

const shownMillis = 2000;

/** The state of a copy button, the element to select without a clipboard, and the function that copies. */
export function useCopy<E extends HTMLElement>(): readonly [
  state: CopyState,
  element: RefObject<E | null>,
  copy: (text: string) => void,
] {
  const [state, setState] = useState<CopyState>("idle");
  const element = useRef<E>(null);
  useEffect(() => {
    if (state === "selected" && element.current) getSelection()?.selectAllChildren(element.current);
    if (state === "idle") return undefined;
    const timer = setTimeout(() => setState("idle"), shownMillis);
    return () => clearTimeout(timer);
  }, [state]);
  return [state, element, (text) => void written(text).then(setState)];
}

async function written(text: string): Promise<CopyState> {
  try {
    await navigator.clipboard.writeText(text);
    return "copied";
  } catch {
    return "selected";
  }
}
