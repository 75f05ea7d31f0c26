/** Form fields with a label, a hint, and a problem. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Action } from "../../api/access.ts";
import { ActionButton } from "../actionbutton.tsx";
import type { Path } from "./draft.ts";
import type { Form } from "./form.ts";
import { About } from "./group.tsx";
import { Problems } from "./problems.tsx";
import { text } from "./text.ts";

/** Props of every field. */
export interface FieldOptions {
  readonly form: Form;
  readonly path: Path;
  readonly label: string;
  readonly hint?: ComponentChildren;
}

/** Attributes that tie a control to its label, hint, and problem. */
interface ControlAttributes {
  readonly id: string;
  readonly "aria-describedby": string;
  readonly "aria-invalid": boolean;
}

/** The frame of a field with one control. */
export function Field({
  form,
  path,
  label,
  hint,
  control,
}: FieldOptions & { control: (attributes: ControlAttributes) => ComponentChildren }) {
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

/** A text input. */
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
      control={(attributes) => (
        <>
          <input
            {...attributes}
            autocomplete="off"
            spellcheck={false}
            placeholder={placeholder}
            disabled={disabled}
            list={suggestions && `${attributes.id}-suggestions`}
            value={String(form.value(path) ?? "")}
            onInput={({ currentTarget }) => form.set(path, currentTarget.value || undefined)}
          />
          {suggestions && (
            <datalist id={`${attributes.id}-suggestions`}>
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

/** An input for an integer. */
export function NumberField({ min = 0, ...field }: FieldOptions & { min?: number }) {
  const { form, path } = field;
  return (
    <Field
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
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

/** A select. `choose` replaces the default, which stores the value. */
export function ChoiceField({
  choices,
  choose = (value) => field.form.set(field.path, value),
  ...field
}: FieldOptions & {
  choices: readonly (readonly [value: string, name: string])[];
  /** Called with undefined for the empty choice. */
  choose?: (value: string | undefined) => void;
}) {
  const { form, path } = field;
  return (
    <Field
      {...field}
      control={(attributes) => (
        <select
          {...attributes}
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

/** A list of strings, one per line. */
export function LinesField({ rows = 3, ...field }: FieldOptions & { rows?: number }) {
  const { form, path } = field;
  const lines = (form.value(path) ?? []) as readonly string[];
  return (
    <Field
      {...field}
      control={(attributes) => (
        <textarea
          {...attributes}
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

/** Says that the form has unsaved input of an earlier visit, and discards it on request. */
export function Restored({ form }: { form: Form }) {
  if (!form.isRestored) return null;
  return (
    <div class="notice row" role="status">
      <span>{text.restored}</span>
      <button type="button" onClick={() => form.startOver()}>
        {text.discard}
      </button>
    </div>
  );
}

/** The problems, and the send button. It keeps the focus while it is disabled. */
export function Send({
  form,
  label,
  needs,
  children,
}: {
  form: Form;
  label: string;
  /** The action of the button; undefined while the namespace is not entered. */
  needs: Action | undefined;
  children?: ComponentChildren;
}) {
  return (
    <>
      <Problems ofNoField={form.problems} />
      <div class="actions">
        <ActionButton needs={needs} type="submit" class="primary" isBusy={form.isSending}>
          {form.isSending ? text.sending : label}
        </ActionButton>
        {children}
      </div>
    </>
  );
}
