/** Rows of a form that are added and removed. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** The rows, and a button for one more. Whoever adds one is in its first field then, and whoever removes the last is at the button. */
export function Rows({
  count,
  name,
  add,
  children,
}: {
  /** Of the rows. */
  count: number;
  /** Of the button. */
  name: string;
  add: () => void;
  children: ComponentChildren;
}) {
  const rows = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isAdding = useRef(false);
  const before = useRef(count);
  useLayoutEffect(() => {
    if (isAdding.current)
      rows.current?.lastElementChild?.querySelector<HTMLElement>("input, select")?.focus();
    // What had the focus is gone with its row.
    else if (count < before.current && document.activeElement === document.body) button.current?.focus();
    isAdding.current = false;
    before.current = count;
  }, [count]);
  return (
    <>
      <div ref={rows} class="rows">
        {children}
      </div>
      <div>
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
      </div>
    </>
  );
}
