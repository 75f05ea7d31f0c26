/** Filters for lists: words and statuses, both kept in the address. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type Tone, tones } from "./status.tsx";
import { tableText as text } from "./text.ts";
import { useUrlState, withQuery } from "./urlstate.ts";
import { filterByWords } from "./wordfilter.ts";

/** Lists up to this length need no filter. */
const few = 8;

/** The address changes when a user pauses this long: browsers limit how often it may change. */
const pauseMillis = 250;

/** Items and their filters. */
export interface Filter<T> {
  readonly items: readonly T[];
  /** The items that match. */
  readonly found: readonly T[];
  readonly words: string;
  readonly setWords: SetWords;
  /** The statuses of the items that match the words; undefined if the items have none. */
  readonly statuses: readonly Tone[] | undefined;
  readonly chosen: readonly Tone[];
  readonly choose: (tones: readonly Tone[]) => void;
}

/** Filters items by words in their texts, and by their statuses if they have one. Both functions have to stay the same. */
export function useFilter<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  toneOf?: (item: T) => Tone,
): Filter<T> {
  const [words, setWords] = useWords();
  const [status, setStatus] = useUrlState("status");
  const filtered = useMemo(() => {
    const matching = filterByWords(items, textOf, words);
    const chosen = toneOf === undefined ? [] : tones.filter((tone) => status.split(",").includes(tone));
    const isChosen = (item: T) => toneOf === undefined || chosen.includes(toneOf(item));
    return {
      found: chosen.length === 0 ? matching : matching.filter(isChosen),
      statuses: toneOf && matching.map(toneOf),
      chosen,
    };
  }, [items, textOf, toneOf, words, status]);
  return { items, words, setWords, ...filtered, choose: (next) => setStatus(next.join()) };
}

/** The fields of a filter, if there is something to filter, above the items that match. */
export function Filtered<T>({
  filter,
  what,
  children,
}: {
  filter: Filter<T>;
  /** Plural noun for the items: `Applications`. */
  what: string;
  children: (found: readonly T[]) => ComponentChildren;
}) {
  const { items, found, words, setWords, statuses, chosen, choose } = filter;
  const input = useRef<HTMLInputElement>(null);
  const isFiltered = words !== "" || chosen.length > 0;
  // Once shown, the fields stay: a user who clears them is in one of them.
  const isShown = items.length > few || isFiltered || input.current !== null;
  if (!isShown) return <>{children(items)}</>;
  return (
    <>
      <search class="row filters">
        <input
          ref={input}
          type="search"
          aria-label={text.find(what)}
          placeholder={text.find(what)}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value, "soon")}
          onBlur={({ currentTarget }) => setWords(currentTarget.value, "now")}
        />
        {statuses && <StatusFilter tones={statuses} chosen={chosen} onChoose={choose} />}
        <span class="quiet small" role="status">
          {isFiltered ? text.some(found.length, items.length, what) : text.all(items.length, what)}
        </span>
      </search>
      {found.length === 0 ? (
        <NoMatches filter={filter} what={what} onClear={() => input.current?.focus()} />
      ) : (
        children(found)
      )}
    </>
  );
}

/** {@link Filtered} by {@link useFilter}. */
export function Searchable<T>({
  items,
  text: textOf,
  tone,
  ...shown
}: {
  items: readonly T[];
  /** The text that is searched. */
  text: (item: T) => string;
  /** The status by which items are filtered. */
  tone: (item: T) => Tone;
  /** See {@link Filtered}. */
  what: string;
  children: (found: readonly T[]) => ComponentChildren;
}) {
  return <Filtered filter={useFilter(items, textOf, tone)} {...shown} />;
}

type SetWords = (words: string, when: "now" | "soon") => void;

/** The words of the search field, which follow the address, and which the address follows. */
function useWords(): readonly [string, SetWords] {
  const [stored, store] = useUrlState("q");
  const [words, setWords] = useState(stored);
  const timer = useRef(0);
  const sent = useRef(stored);
  useEffect(() => {
    // Back, or a cleared filter, and not what the field itself has stored.
    if (stored !== sent.current) setWords(stored);
    sent.current = stored;
  }, [stored]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const set: SetWords = (next, when) => {
    setWords(next);
    clearTimeout(timer.current);
    const send = () => {
      sent.current = next;
      store(next);
    };
    if (when === "soon") timer.current = setTimeout(send, pauseMillis);
    else if (next !== stored) send();
  };
  return [words, set];
}

/** A button for each status that the items have. Several can be pressed. */
function StatusFilter({
  tones: present,
  chosen,
  onChoose,
}: {
  tones: readonly Tone[];
  chosen: readonly Tone[];
  onChoose: (chosen: readonly Tone[]) => void;
}) {
  const count = (tone: Tone) => present.filter((one) => one === tone).length;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and has their border
    <div role="group" aria-label={text.status} class="row chips">
      {tones
        .filter((tone) => count(tone) > 0 || chosen.includes(tone))
        .map((tone) => (
          <button
            key={tone}
            type="button"
            class={`chip ${tone}`}
            aria-pressed={chosen.includes(tone)}
            onClick={() => onChoose(tones.filter((one) => (one === tone) !== chosen.includes(one)))}
          >
            {text.tones[tone]} <span class="count">{count(tone)}</span>
          </button>
        ))}
    </div>
  );
}

/** Names the filters that hide everything. */
function NoMatches<T>({
  filter: { words, chosen },
  what,
  onClear,
}: {
  filter: Filter<T>;
  what: string;
  onClear: () => void;
}) {
  const { route } = useLocation();
  const filters = [
    ...(words === "" ? [] : [text.words(words)]),
    ...(chosen.length === 0 ? [] : [text.statuses(chosen.map((tone) => text.tones[tone]))]),
  ];
  return (
    <div class="empty">
      <p>
        {text.none(what)} {filters.join(text.and)}.
      </p>
      <button
        type="button"
        onClick={() => {
          route(withQuery({ q: undefined, status: undefined }), true);
          onClear();
        }}
      >
        {text.clear}
      </button>
    </div>
  );
}
