/** Fields of a form, each with its name, a hint, and what is wrong with it. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Path } from "./draft.ts";
import type { Form } from "./form.ts";
import { About } from "./group.tsx";

/** What every field is given. */
export interface FieldOptions {
  readonly form: Form;
  readonly path: Path;
  readonly label: string;
  readonly hint?: ComponentChildren;
}

/** What ties a control to its name, hint and problem. */
interface Tied {
  readonly id: string;
  readonly "aria-describedby": string;
  readonly "aria-invalid": boolean;
}

/** The frame of a field. */
export function Field({
  form,
  path,
  label,
  hint,
  control,
}: FieldOptions & { control: (tied: Tied) => ComponentChildren }) {
  const id = useId();
  const problem = form.problem(path);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({ id, "aria-describedby": `${id}-about`, "aria-invalid": problem !== undefined })}
      <About id={`${id}-about`} hint={hint} problem={problem} />
    </div>
  );
}

/** A line of text. */
export function TextField({
  placeholder,
  disabled,
  suggestions,
  ...field
}: FieldOptions & { placeholder?: string; disabled?: boolean; suggestions?: readonly string[] }) {
  const { form, path } = field;
  return (
    <Field
      {...field}
      control={(tied) => (
        <>
          <input
            {...tied}
            autocomplete="off"
            spellcheck={false}
            placeholder={placeholder}
            disabled={disabled}
            list={suggestions && `${tied.id}-suggestions`}
            value={String(form.value(path) ?? "")}
            onInput={({ currentTarget }) => form.set(path, currentTarget.value || undefined)}
          />
          {suggestions && (
            <datalist id={`${tied.id}-suggestions`}>
              {suggestions.map((text) => (
                <option key={text} value={text} />
              ))}
            </datalist>
          )}
        </>
      )}
    />
  );
}

/** A whole number. */
export function NumberField({ min = 0, ...field }: FieldOptions & { min?: number }) {
  const { form, path } = field;
  return (
    <Field
      {...field}
      control={(tied) => (
        <input
          {...tied}
          type="number"
          min={min}
          step={1}
          value={String(form.value(path) ?? "")}
          onInput={({ currentTarget }) =>
            form.set(path, currentTarget.value === "" ? undefined : currentTarget.valueAsNumber)
          }
        />
      )}
    />
  );
}

/** One of a few. What a choice does beside being noted, `choose` says. */
export function ChoiceField({
  choices,
  choose = (value) => field.form.set(field.path, value),
  ...field
}: FieldOptions & {
  choices: readonly (readonly [value: string, name: string])[];
  /** Gets undefined for the empty one. */
  choose?: (value: string | undefined) => void;
}) {
  const { form, path } = field;
  return (
    <Field
      {...field}
      control={(tied) => (
        <select
          {...tied}
          value={String(form.value(path) ?? "")}
          onChange={({ currentTarget }) => choose(currentTarget.value || undefined)}
        >
          {choices.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    />
  );
}

/** Texts, one in each line. */
export function LinesField({ rows = 3, ...field }: FieldOptions & { rows?: number }) {
  const { form, path } = field;
  const lines = (form.value(path) ?? []) as readonly string[];
  return (
    <Field
      {...field}
      control={(tied) => (
        <textarea
          {...tied}
          rows={rows}
          spellcheck={false}
          value={lines.join("\n")}
          onInput={({ currentTarget: { value } }) =>
            form.set(path, value === "" ? undefined : value.split("\n"))
          }
        />
      )}
    />
  );
}

/** What is wrong with no field in particular, and the button that sends the form. */
export function Send({ form, label, children }: { form: Form; label: string; children?: ComponentChildren }) {
  return (
    <>
      {form.problems.length > 0 && (
        <div class="notice bad" role="alert" tabIndex={-1} data-problems>
          {form.problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      )}
      <div class="actions">
        <button type="submit" class="primary" disabled={form.isSending}>
          {form.isSending ? "Sending…" : label}
        </button>
        {children}
      </div>
    </>
  );
}
