/** Secrets and ConfigMaps whose keys all become environment variables. */
import type { Path } from "./draft.ts";
import type { Form } from "./form.ts";
import { Group } from "./group.tsx";
import { Rows } from "./rows.tsx";

interface Ref {
  readonly name?: string;
}

interface Source {
  readonly prefix?: string;
  readonly secretRef?: Ref;
  readonly configMapRef?: Ref;
}

const kinds = [
  ["secretRef", "Secret"],
  ["configMapRef", "ConfigMap"],
] as const;

type Kind = (typeof kinds)[number][0];

const kindOf = ({ configMapRef }: Source): Kind => (configMapRef ? "configMapRef" : "secretRef");

/** A list of such sources. */
export function EnvFromField({ form, path, label }: { form: Form; path: Path; label: string }) {
  const sources = (form.value(path) ?? []) as readonly Source[];
  return (
    <Group label={label} problem={form.problem(path)}>
      <Rows
        count={sources.length}
        name="Add a source"
        add={() => form.set([...path, sources.length], { secretRef: { name: "" } })}
      >
        {sources.map((source, at) => {
          const kind = kindOf(source);
          const name = source[kind]?.name ?? "";
          const about = `source ${at + 1}`;
          return (
            <div key={`${kind} ${at}`} class="variable">
              <select
                aria-label={`Kind of ${about}`}
                value={kind}
                onChange={({ currentTarget }) => form.set([...path, at], { [currentTarget.value]: { name } })}
              >
                {kinds.map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
              <input
                aria-label={`Name of ${about}`}
                placeholder="name"
                autocomplete="off"
                spellcheck={false}
                value={name}
                onInput={({ currentTarget }) => form.set([...path, at, kind, "name"], currentTarget.value)}
              />
              <button
                type="button"
                aria-label={`Remove ${about}`}
                onClick={() => form.set([...path, at], undefined)}
              >
                Remove
              </button>
            </div>
          );
        })}
      </Rows>
    </Group>
  );
}
