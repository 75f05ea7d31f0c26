/** What to look for: an object, or a trace. */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { BusFigures, ObjectName } from "../../../../api/bus.ts";
import { useAnswer } from "../../api/answer.ts";
import { listOf } from "../../api/objects.ts";
import { namespace } from "../../ui/namespace.tsx";
import { historyAddress, traceAddress } from "../addresses.ts";
import { kindCalled, knownResources, namedKinds } from "./kinds.ts";

/** What is looked for. Not everything is named yet. */
export type Wanted = Partial<ObjectName> & { readonly trace?: string };

/** Two forms; whoever sends one goes to the address of what is found. */
export function Search({ wanted }: { wanted: Wanted }) {
  return (
    <div class="columns searches">
      <ObjectSearch wanted={wanted} />
      <TraceSearch trace={wanted.trace ?? ""} />
    </div>
  );
}

function ObjectSearch({ wanted }: { wanted: Wanted }) {
  const { route } = useLocation();
  const figures = useAnswer<BusFigures>("/api/bus/figures");
  const named = namedKinds(figures.value?.functions ?? []);
  const [kind, setKind] = useState(wanted.kind ?? "");
  const [inNamespace, setNamespace] = useState(wanted.namespace ?? namespace.value);
  const names = useNames(kindCalled(kind, named), inNamespace);
  useEffect(() => {
    if (wanted.kind !== undefined) setKind(wanted.kind);
    if (wanted.namespace !== undefined) setNamespace(wanted.namespace);
  }, [wanted.kind, wanted.namespace]);
  return (
    <form
      class="card search"
      aria-labelledby="by-object"
      onSubmit={(event) => {
        event.preventDefault();
        const name = String(new FormData(event.currentTarget).get("name")).trim();
        // The group that the address named is that of its kind alone.
        const group = kind === wanted.kind ? wanted.group : undefined;
        const called = kindCalled(kind, named);
        route(historyAddress({ ...called, ...(group && { group }), namespace: inNamespace.trim(), name }));
      }}
    >
      <h2 id="by-object">An object</h2>
      <div class="fields">
        <label class="field">
          <span class="label">Kind or function</span>
          <input
            list="bus-kinds"
            required
            autocomplete="off"
            spellcheck={false}
            value={kind}
            onInput={({ currentTarget }) => setKind(currentTarget.value)}
          />
        </label>
        <label class="field">
          <span class="label">In namespace</span>
          <input
            list="namespaces"
            autocomplete="off"
            spellcheck={false}
            placeholder="none"
            value={inNamespace}
            onInput={({ currentTarget }) => setNamespace(currentTarget.value)}
          />
        </label>
        <label class="field">
          <span class="label">Object name</span>
          <input
            key={wanted.name}
            name="name"
            list="bus-names"
            required
            autocomplete="off"
            spellcheck={false}
            defaultValue={wanted.name ?? ""}
          />
        </label>
      </div>
      <datalist id="bus-kinds">
        {named.map(({ called, group }) => (
          <option key={`${called} ${group}`} value={called} label={group} />
        ))}
      </datalist>
      <datalist id="bus-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="actions">
        <button type="submit" class="primary">
          Show its history
        </button>
      </div>
    </form>
  );
}

/** Names of objects that whoever looks may list. */
function useNames({ group, kind }: { group: string; kind: string }, inNamespace: string): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    const resource = knownResources.find((known) => known.group === group && known.kind === kind);
    let isOver = false;
    const know = (found: readonly string[]) => {
      if (!isOver) setNames(found);
    };
    if (resource === undefined) know([]);
    else
      listOf(resource, { namespace: inNamespace || undefined }).then(
        (items) => know(items.map(({ metadata }) => metadata.name)),
        // What may not be listed can be typed.
        () => know([]),
      );
    return () => {
      isOver = true;
    };
  }, [group, kind, inNamespace]);
  return names;
}

function TraceSearch({ trace }: { trace: string }) {
  const { route } = useLocation();
  return (
    <form
      class="card search"
      aria-labelledby="by-trace"
      onSubmit={(event) => {
        event.preventDefault();
        route(traceAddress(String(new FormData(event.currentTarget).get("trace")).trim()));
      }}
    >
      <h2 id="by-trace">A trace</h2>
      <label class="field">
        <span class="label">Trace id</span>
        <input
          key={trace}
          name="trace"
          class="mono"
          required
          autocomplete="off"
          spellcheck={false}
          placeholder="32 hexadecimal digits, or a traceparent"
          defaultValue={trace}
        />
      </label>
      <div class="actions">
        <button type="submit" class="primary">
          Show the trace
        </button>
      </div>
    </form>
  );
}
