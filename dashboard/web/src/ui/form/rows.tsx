/** Rows that users add and remove. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Rows and a button for another one. A new row gets the focus; after a removal without another focus, the button gets it. */
export function Rows({
  count,
  name,
  add,
  actions,
  children,
}: {
  count: number;
  /** Label of the button. */
  name: string;
  add: () => void;
  /** Further buttons. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const rows = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isAdding = useRef(false);
  const before = useRef(count);
  useLayoutEffect(() => {
    if (isAdding.current)
      rows.current?.lastElementChild?.querySelector<HTMLElement>("input, select")?.focus();
    // The removed row had the focus.
    else if (count < before.current && document.activeElement === document.body) button.current?.focus();
    isAdding.current = false;
    before.current = count;
  }, [count]);
  return (
    <>
      <div ref={rows} class="rows">
        {children}
      </div>
      <div class="row">
        <button
          ref={button}
          type="button"
          onClick={() => {
            isAdding.current = true;
            add();
          }}
        >
          {name}
        </button>
        {actions}
      </div>
    </>
  );
}
