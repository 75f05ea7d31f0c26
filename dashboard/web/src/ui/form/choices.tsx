/** Radio buttons and switches. */
import { useId } from "preact/hooks";
import type { FieldOptions } from "./field.tsx";
import { About, Group } from "./group.tsx";

/** Radio buttons. `choose` replaces the default, which stores the value. */
export function RadioField<Value extends string>({
  form,
  path,
  label,
  hint,
  choices,
  choose = (value) => form.set(path, value),
}: FieldOptions & {
  choices: readonly (readonly [value: Value, name: string])[];
  choose?: (value: Value) => void;
}) {
  const id = useId();
  return (
    <Group label={label} hint={hint} problem={form.problem(path)}>
      <div class="choices">
        {choices.map(([value, name]) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name={id}
              value={value}
              checked={form.value(path) === value}
              onChange={() => choose(value)}
            />
            {name}
          </label>
        ))}
      </div>
    </Group>
  );
}

/** A switch. `unset` is the state shown while the field has no value. */
export function SwitchField({ form, path, label, hint, unset }: FieldOptions & { unset: "on" | "off" }) {
  const id = useId();
  const problem = form.problem(path);
  const isOn = (form.value(path) ?? unset === "on") === true;
  return (
    <div class="field">
      <label class="choice">
        <input
          type="checkbox"
          role="switch"
          aria-describedby={`${id}-about`}
          aria-invalid={problem !== undefined}
          checked={isOn}
          aria-checked={isOn}
          onChange={({ currentTarget }) => form.set(path, currentTarget.checked)}
        />
        {label}
      </label>
      <About id={`${id}-about`} hint={hint} problem={problem} />
    </div>
  );
}
