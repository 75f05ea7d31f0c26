/** A text filter for lists. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { filterByWords } from "./wordfilter.ts";

/** Lists up to this length need no filter. */
const few = 8;

/** A search field above the items that match it. */
export function Searchable<T>({
  items,
  text,
  what,
  children,
}: {
  items: readonly T[];
  /** The text that is searched. */
  text: (item: T) => string;
  /** Plural noun for the items: `Applications`. */
  what: string;
  children: (found: readonly T[]) => ComponentChildren;
}) {
  const [words, setWords] = useState("");
  if (items.length <= few && words === "") return <>{children(items)}</>;
  const found = filterByWords(items, text, words);
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
      {found.length === 0 ? <p class="quiet">No matches.</p> : children(found)}
    </>
  );
}
