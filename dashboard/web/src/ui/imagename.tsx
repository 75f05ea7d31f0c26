/** Image references. */
import { useEffect, useRef, useState } from "preact/hooks";
import { shortImage } from "./images.ts";
import { copyText as text } from "./text.ts";

type State = "idle" | "copied" | "selected";

const shownMillis = 2000;

/** An image with an abbreviated digest, and a button that copies all of it. */
export function ImageName({ of: image }: { of: string | undefined }) {
  const [state, setState] = useState<State>("idle");
  const name = useRef<HTMLElement>(null);
  useEffect(() => {
    if (state === "selected" && name.current) getSelection()?.selectAllChildren(name.current);
    if (state === "idle") return undefined;
    const timer = setTimeout(() => setState("idle"), shownMillis);
    return () => clearTimeout(timer);
  }, [state]);
  if (!image) return null;
  const short = shortImage(image);
  const label = { idle: text.copyImage(short), copied: text.copied, selected: text.selected }[state];
  return (
    <span class="image">
      <code ref={name} title={image}>
        {state === "selected" ? image : short}
      </code>
      <button
        type="button"
        class="copy"
        title={label}
        aria-label={label}
        onClick={() => void copy(image).then(setState)}
      >
        {state !== "idle" && <span role="status">{label}</span>}
      </button>
    </span>
  );
}

/** Copies a text. Without a clipboard (plain HTTP, a refusal), the text is selected for the user to copy. */
const copy = async (image: string): Promise<State> => {
  try {
    await navigator.clipboard.writeText(image);
    return "copied";
  } catch {
    return "selected";
  }
};
