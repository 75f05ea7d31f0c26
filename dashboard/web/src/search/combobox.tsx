/** A text field with results in groups below it. https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
import { useEffect, useId, useState } from "preact/hooks";
import { Status } from "../ui/status.tsx";
import type { Entry } from "./entry.ts";
import { moved } from "./keys.ts";
import type { RankedGroup } from "./ranking.ts";
import { paletteText as text } from "./text.ts";

/** The field keeps the focus; arrows, Home, and End move among the results, and Enter chooses one. */
export function Combobox({
  typed,
  onType,
  groups,
  onChoose,
}: {
  typed: string;
  onType: (typed: string) => void;
  groups: readonly RankedGroup[];
  onChoose: (entry: Entry) => void;
}) {
  const id = useId();
  const [chosen, setChosen] = useState<string>();
  const entries = groups.flatMap((group) => group.entries);
  const found = entries.findIndex((entry) => entry.id === chosen);
  const at = Math.max(found, 0);
  const active = entries[at];
  const optionId = ({ id: of }: Entry) => `${id}-${of}`;
  const activeId = active && optionId(active);
  useEffect(() => {
    if (activeId) document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
  }, [activeId]);
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys that choose among the candidates of an input method.
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const next = moved(event.key, at, entries.length);
    if (next !== undefined) setChosen(entries[next]?.id);
    else if (event.key === "Enter" && active) onChoose(active);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label={text.label}
        placeholder={text.hint}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-expanded={entries.length > 0}
        aria-activedescendant={activeId}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={typed}
        onInput={({ currentTarget }) => {
          setChosen(undefined);
          onType(currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />

      <div
        id={`${id}-list`}
        role="listbox"
        aria-label={text.results}
        class="found"
        // A click leaves the focus in the field.
        onMouseDown={(event) => event.preventDefault()}
      >
        {groups.map((group) => (
          <Group key={group.name} group={group} active={active} optionId={optionId} onChoose={onChoose} />
        ))}
      </div>
    </>
  );
}

function Group({
  group: { name, entries, count },
  active,
  optionId,
  onChoose,
}: {
  group: RankedGroup;
  active: Entry | undefined;
  optionId: (entry: Entry) => string;
  onChoose: (entry: Entry) => void;
}) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
    <div role="group" aria-labelledby={id}>
      <p id={id} class="group">
        {name}
        {count > entries.length && <span>{text.more(count - entries.length)}</span>}
      </p>
      {entries.map((entry) => (
        <Option
          key={entry.id}
          id={optionId(entry)}
          entry={entry}
          isActive={entry === active}
          onChoose={onChoose}
        />
      ))}
    </div>
  );
}

function Option({
  id,
  entry,
  isActive,
  onChoose,
}: {
  id: string;
  entry: Entry;
  isActive: boolean;
  onChoose: (entry: Entry) => void;
}) {
  const { name, detail, health } = entry;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
    <div id={id} role="option" aria-selected={isActive} class="option" onClick={() => onChoose(entry)}>
      <span class="name">{name}</span> {detail && <span class="quiet small">{detail}</span>}{" "}
      {health && <Status tone={health[0]}>{health[1]}</Status>}
    </div>
  );
}
