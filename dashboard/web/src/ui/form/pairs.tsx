/** Maps of names to values: labels, attributes, quantities. */
import { useState } from "preact/hooks";
import type { Path } from "./draft.ts";
import type { Form } from "./form.ts";
import { Group } from "./group.tsx";
import { Rows } from "./rows.tsx";
import { text } from "./text.ts";

const words = text.pairs;

type Pair = readonly [name: string, value: string];

/** A map of strings. */
export function PairsField({
  form,
  path,
  label,
  hint,
}: {
  form: Form;
  path: Path;
  label: string;
  hint?: string;
}) {
  const [pairs, setPairs] = useState<readonly Pair[]>(
    Object.entries((form.value(path) ?? {}) as Record<string, string>),
  );
  // Duplicate names stay separate rows; the object gets the last one.
  const change = (next: readonly Pair[]) => {
    setPairs(next);
    const named = next.filter(([name]) => name !== "");
    form.set(path, named.length === 0 ? undefined : Object.fromEntries(named));
  };
  return (
    <Group label={label} hint={hint} problem={form.problem(path)}>
      <Rows count={pairs.length} name={words.add} add={() => setPairs([...pairs, ["", ""]])}>
        {pairs.map(([name, value], at) => (
          <div key={at} class="variable">
            <input
              aria-label={words.name(at + 1, label)}
              placeholder={words.namePlaceholder}
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={({ currentTarget }) => change(pairs.with(at, [currentTarget.value, value]))}
            />
            <input
              aria-label={words.value(at + 1, label)}
              aria-invalid={form.problem([...path, name]) !== undefined}
              placeholder={words.valuePlaceholder}
              autocomplete="off"
              spellcheck={false}
              value={value}
              onInput={({ currentTarget }) => change(pairs.with(at, [name, currentTarget.value]))}
            />
            <button
              type="button"
              aria-label={words.remove(name || words.pair(at + 1), label)}
              onClick={() => change(pairs.toSpliced(at, 1))}
            >
              {text.remove}
            </button>
          </div>
        ))}
      </Rows>
    </Group>
  );
}
