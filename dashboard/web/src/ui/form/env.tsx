/** Environment variables: a value, or a key of a Secret or ConfigMap. The form never reads the values of Secrets. */
import type { Path } from "./draft.ts";
import type { Form } from "./form.ts";
import { Group } from "./group.tsx";
import { Rows } from "./rows.tsx";

interface KeyRef {
  readonly name?: string;
  readonly key?: string;
}

interface Variable {
  readonly name?: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: KeyRef; readonly configMapKeyRef?: KeyRef };
}

const sources = [
  ["value", "Value"],
  ["secretKeyRef", "Key of a Secret"],
  ["configMapKeyRef", "Key of a ConfigMap"],
] as const;

type Source = (typeof sources)[number][0];

const sourceOf = ({ valueFrom }: Variable): Source =>
  valueFrom === undefined ? "value" : valueFrom.configMapKeyRef ? "configMapKeyRef" : "secretKeyRef";

const from = ({ name }: Variable, source: Source): Variable => ({
  ...(name !== undefined && { name }),
  ...(source === "value" ? { value: "" } : { valueFrom: { [source]: { name: "", key: "" } } }),
});

/** A list of variables. Builds accept only values: `from="values"`. */
export function EnvField({
  form,
  path,
  label,
  from: taken = "anywhere",
}: {
  form: Form;
  path: Path;
  label: string;
  from?: "anywhere" | "values";
}) {
  const variables = (form.value(path) ?? []) as readonly Variable[];
  return (
    <Group
      label={label}
      hint={
        taken === "anywhere"
          ? "Store sensitive values in a Secret. Values entered here are visible to all who can read the object."
          : "Values are visible to all who can read the object."
      }
    >
      <Rows
        count={variables.length}
        name="Add a variable"
        add={() => form.set([...path, variables.length], { name: "", value: "" })}
      >
        {variables.map((variable, at) => (
          <VariableRow key={at} form={form} path={[...path, at]} variable={variable} at={at} taken={taken} />
        ))}
      </Rows>
    </Group>
  );
}

function VariableRow({
  form,
  path,
  variable,
  at,
  taken,
}: {
  form: Form;
  path: Path;
  variable: Variable;
  at: number;
  taken: "anywhere" | "values";
}) {
  const source = sourceOf(variable);
  const about = `variable ${at + 1}`;
  const problem = form.problem(path);
  const input = (inner: Path, name: string, placeholder: string) => (
    <input
      aria-label={`${name} of ${about}`}
      aria-invalid={form.problem([...path, ...inner]) !== undefined}
      placeholder={placeholder}
      autocomplete="off"
      spellcheck={false}
      value={String(form.value([...path, ...inner]) ?? "")}
      onInput={({ currentTarget }) => form.set([...path, ...inner], currentTarget.value)}
    />
  );
  return (
    <div class="variable">
      {input(["name"], "Name", "NAME")}
      {taken === "anywhere" && (
        <select
          aria-label={`Source of ${about}`}
          value={source}
          onChange={({ currentTarget }) => form.set(path, from(variable, currentTarget.value as Source))}
        >
          {sources.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
      {source === "value" ? (
        input(["value"], "Value", "value")
      ) : (
        <span class="pair">
          {input(["valueFrom", source, "name"], source === "secretKeyRef" ? "Secret" : "ConfigMap", "name")}
          {input(["valueFrom", source, "key"], "Key", "key")}
        </span>
      )}
      <button type="button" aria-label={`Remove ${about}`} onClick={() => form.set(path, undefined)}>
        Remove
      </button>
      {problem && <p class="problem">{problem}</p>}
    </div>
  );
}
