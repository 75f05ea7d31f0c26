/** The head of a screen. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { windowText as text } from "./text.ts";

/** The title, also of the window, with a link back to the list (`trail`) and the screen's buttons. */
export function Head({
  title,
  trail,
  status,
  children,
}: {
  title: string;
  trail?: readonly [to: string, name: string] | undefined;
  status?: ComponentChildren;
  /** Buttons. */
  children?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = text.title(title);
  }, [title]);
  return (
    <div class="head">
      <div>
        {trail && (
          <p class="trail">
            <a href={trail[0]}>{trail[1]}</a>
          </p>
        )}
        <div class="row">
          <h1>{title}</h1>
          {status}
        </div>
      </div>
      <div class="actions">{children}</div>
    </div>
  );
}
