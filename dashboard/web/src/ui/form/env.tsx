/** Environment variables: a value, or a key of a Secret or ConfigMap. The form never reads the values of Secrets. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { notify } from "../notices.tsx";
import { type Assignment, pastedVariables } from "./dotenv.ts";
import { type Path, pathText } from "./draft.ts";
import { PasteDialog } from "./envpaste.tsx";
import { ValueInput } from "./envvalue.tsx";
import type { Form } from "./form.ts";
import { Group } from "./group.tsx";
import { type NamedKind, useNames } from "./names.ts";
import { Rows } from "./rows.tsx";
import { text } from "./text.ts";
import { type Source, sourceOf, sources, type Variable, withPasted, withSource } from "./variables.ts";

const { labels, placeholders } = text.variables;

const kinds = { value: undefined, secretKeyRef: "secrets", configMapKeyRef: "configmaps" } as const;

const kindOf = (variable: Variable): NamedKind | undefined => kinds[sourceOf(variable)];

/** A list of variables. With a namespace, values can also come from its Secrets and ConfigMaps; builds accept only values. */
export function EnvField({
  form,
  path,
  label,
  namespace,
}: {
  form: Form;
  path: Path;
  label: string;
  namespace?: string;
}) {
  const variables = (form.value(path) ?? []) as readonly Variable[];
  const names = useNames(variables.map(kindOf), namespace ?? "");
  const paste = (pasted: readonly Assignment[], at?: number) => {
    const { variables: next, added, replaced } = withPasted(variables, pasted, at);
    form.set(path, next);
    notify("good", text.paste.done(added, replaced));
  };
  return (
    <Group
      label={label}
      hint={namespace === undefined ? text.variables.values : text.variables.anywhere}
      problem={form.ownProblem(path)}
    >
      <Rows
        count={variables.length}
        name={text.variables.add}
        add={() => form.set([...path, variables.length], { name: "", value: "" })}
        actions={<PasteButton onAdd={(pasted) => paste(pasted)} />}
      >
        {variables.map((variable, at) => (
          <VariableRow
            key={at}
            form={form}
            path={[...path, at]}
            variable={variable}
            at={at}
            isOnlyValue={namespace === undefined}
            names={names[kindOf(variable) ?? "secrets"]}
            paste={(pasted) => paste(pasted, at)}
          />
        ))}
      </Rows>
    </Group>
  );
}

/** Opens the dialog, and gets the focus back. */
function PasteButton({ onAdd }: { onAdd: (pasted: readonly Assignment[]) => void }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && !isOpen) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <>
      <button ref={button} type="button" onClick={() => setOpen(true)}>
        {text.paste.open}
      </button>
      {isOpen && <PasteDialog onAdd={onAdd} onClose={() => setOpen(false)} />}
    </>
  );
}

function VariableRow({
  form,
  path,
  variable,
  at,
  isOnlyValue,
  names,
  paste,
}: {
  form: Form;
  path: Path;
  variable: Variable;
  at: number;
  isOnlyValue: boolean;
  names: readonly string[];
  paste: (pasted: readonly Assignment[]) => void;
}) {
  const id = useId();
  const source = sourceOf(variable);
  const about = text.variables.one(at + 1);
  const problems = problemsOf(form, path, source);
  const idOf = (inner: Path) => `${id}-${inner.join("-")}`;
  const attributes = (inner: Path, name: string, placeholder: string) => {
    const isInvalid = problems.some(([part]) => pathText(part) === pathText(inner));
    return {
      "aria-label": text.variables.labelOf(name, about),
      "aria-invalid": isInvalid,
      "aria-describedby": isInvalid ? idOf(inner) : undefined,
      placeholder,
      autocomplete: "off",
      spellcheck: false,
    };
  };
  const input = (inner: Path, name: string, placeholder: string, more: object = {}) => (
    <input
      {...attributes(inner, name, placeholder)}
      value={String(form.value([...path, ...inner]) ?? "")}
      onInput={({ currentTarget }) => form.set([...path, ...inner], currentTarget.value)}
      {...more}
    />
  );
  const onPaste = (event: ClipboardEvent) => {
    const pasted = pastedVariables(event.clipboardData?.getData("text") ?? "", "name");
    if (pasted === undefined) return;
    event.preventDefault();
    paste(pasted);
  };
  return (
    <div class="variable">
      {input(["name"], labels.name, placeholders.variable, { onPaste })}
      {!isOnlyValue && (
        <select
          aria-label={text.variables.labelOf(labels.source, about)}
          value={source}
          onChange={({ currentTarget }) =>
            form.set(path, withSource(variable, currentTarget.value as Source))
          }
        >
          {sources.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
      {source === "value" ? (
        <ValueInput
          {...attributes(["value"], labels.value, placeholders.value)}
          value={String(variable.value ?? "")}
          change={(value) => form.set([...path, "value"], value)}
          paste={paste}
        />
      ) : (
        <span class="pair">
          {input(["valueFrom", source, "name"], labels[source], placeholders.name, { list: `${id}-names` })}
          {input(["valueFrom", source, "key"], labels.key, placeholders.key)}
          <Names id={`${id}-names`} of={names} />
        </span>
      )}
      <button
        type="button"
        aria-label={text.variables.remove(about)}
        onClick={() => form.set(path, undefined)}
      >
        {text.remove}
      </button>
      {problems.map(([part, problem]) => (
        <p key={idOf(part)} class="problem" id={idOf(part)}>
          {problem}
        </p>
      ))}
    </div>
  );
}

/** The problems of a variable with the inputs that they belong to. One of the whole variable belongs to its name. */
function problemsOf(form: Form, path: Path, source: Source): readonly (readonly [Path, string])[] {
  const ref = ["valueFrom", source];
  const parts: readonly Path[] =
    source === "value" ? [["name"], ["value"]] : [["name"], [...ref, "name"], [...ref, "key"]];
  const found = parts.flatMap((part) => {
    const problem = form.problem([...path, ...part]);
    return problem === undefined ? [] : [[part, problem] as const];
  });
  const whole = found.length === 0 ? form.problem(path) : undefined;
  return whole === undefined ? found : [[["name"], whole]];
}

/** Suggestions for an input. */
export function Names({ id, of: names }: { id: string; of: readonly string[] }) {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
