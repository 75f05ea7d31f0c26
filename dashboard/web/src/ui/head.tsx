/** The head of a screen: what it is of, and what can be done there. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

/** A head. `trail` leads back to where this is one of many; the title is that of the window as well. */
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
    document.title = `${title} · Denrei`;
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
