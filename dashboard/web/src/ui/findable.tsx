/** Finding some among many. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { having } from "./having.ts";

/** Fewer are seen at a glance. */
const few = 8;

/** A field to find items by their text, above those that are found. */
export function Findable<T>({
  items,
  text,
  what,
  children,
}: {
  items: readonly T[];
  /** All that an item is found by. */
  text: (item: T) => string;
  /** What they are: `Applications`. */
  what: string;
  children: (found: readonly T[]) => ComponentChildren;
}) {
  const [words, setWords] = useState("");
  if (items.length <= few && words === "") return <>{children(items)}</>;
  const found = having(items, text, words);
  return (
    <>
      <search class="row">
        <input
          type="search"
          aria-label={`Find ${what}`}
          placeholder={`Find ${what}`}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
        <span class="quiet small" role="status">
          {words === "" ? `${items.length} ${what}` : `${found.length} of ${items.length} ${what}`}
        </span>
      </search>
      {found.length === 0 ? <p class="quiet">None has all of these words.</p> : children(found)}
    </>
  );
}
