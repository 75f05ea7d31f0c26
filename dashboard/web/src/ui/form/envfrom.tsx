/** Secrets and ConfigMaps whose keys all become environment variables. */
import { useId } from "preact/hooks";
import type { Path } from "./draft.ts";
import { Names } from "./env.tsx";
import type { Form } from "./form.ts";
import { Group } from "./group.tsx";
import { useNames } from "./names.ts";
import { Rows } from "./rows.tsx";
import { text } from "./text.ts";

interface Ref {
  readonly name?: string;
}

interface Source {
  readonly prefix?: string;
  readonly secretRef?: Ref;
  readonly configMapRef?: Ref;
}

const { labels, placeholders } = text.variables;

const kinds = [
  ["secretRef", labels.secretKeyRef],
  ["configMapRef", labels.configMapKeyRef],
] as const;

type Kind = (typeof kinds)[number][0];

const namedKinds = { secretRef: "secrets", configMapRef: "configmaps" } as const;

const kindOf = ({ configMapRef }: Source): Kind => (configMapRef ? "configMapRef" : "secretRef");

/** A list of such sources. */
export function EnvFromField({
  form,
  path,
  label,
  namespace,
}: {
  form: Form;
  path: Path;
  label: string;
  namespace: string;
}) {
  const sources = (form.value(path) ?? []) as readonly Source[];
  const names = useNames(
    sources.map((source) => namedKinds[kindOf(source)]),
    namespace,
  );
  return (
    <Group label={label} problem={form.ownProblem(path)}>
      <Rows
        count={sources.length}
        name={text.variables.addSource}
        add={() => form.set([...path, sources.length], { secretRef: { name: "" } })}
      >
        {sources.map((source, at) => (
          <SourceRow
            key={at}
            form={form}
            path={[...path, at]}
            source={source}
            at={at}
            names={names[namedKinds[kindOf(source)]]}
          />
        ))}
      </Rows>
    </Group>
  );
}

function SourceRow({
  form,
  path,
  source,
  at,
  names,
}: {
  form: Form;
  path: Path;
  source: Source;
  at: number;
  names: readonly string[];
}) {
  const id = useId();
  const kind = kindOf(source);
  const name = source[kind]?.name ?? "";
  const about = text.variables.source(at + 1);
  const problem = form.problem(path);
  return (
    <div class="variable">
      <select
        aria-label={text.variables.labelOf(labels.kind, about)}
        value={kind}
        onChange={({ currentTarget }) =>
          form.set(path, { ...(source.prefix && { prefix: source.prefix }), [currentTarget.value]: { name } })
        }
      >
        {kinds.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <input
        aria-label={text.variables.labelOf(labels.name, about)}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && id}
        placeholder={placeholders.name}
        autocomplete="off"
        spellcheck={false}
        list={`${id}-names`}
        value={name}
        onInput={({ currentTarget }) => form.set([...path, kind, "name"], currentTarget.value)}
      />
      <Names id={`${id}-names`} of={names} />
      <button
        type="button"
        aria-label={text.variables.remove(about)}
        onClick={() => form.set(path, undefined)}
      >
        {text.remove}
      </button>
      {problem && (
        <p class="problem" id={id}>
          {problem}
        </p>
      )}
    </div>
  );
}
