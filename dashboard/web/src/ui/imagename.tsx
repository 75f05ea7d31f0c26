/** Image references. */
import { Fragment } from "preact";
import { useCopy } from "./copy.ts";
import { shortImage } from "./images.ts";
import { copyText as text } from "./text.ts";

/** Long names break after a path segment rather than within a word. */
const breakable = (image: string) =>
  image.split(/(?<=[/@])/).map((part, at) => (
    <Fragment key={`${at} ${part}`}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));

/** An image with an abbreviated digest, and a button that copies all of it. */
export function ImageName({ of: image }: { of: string | undefined }) {
  const [state, name, copy] = useCopy<HTMLElement>();
  if (!image) return null;
  const short = shortImage(image);
  const label = { idle: text.copyImage(short), copied: text.copied, selected: text.selected }[state];
  return (
    <span class="image">
      <code ref={name} title={image}>
        {state === "selected" ? image : breakable(short)}
      </code>
      <button type="button" class="copy" title={label} aria-label={label} onClick={() => copy(image)}>
        {state !== "idle" && <span role="status">{label}</span>}
      </button>
    </span>
  );
}
