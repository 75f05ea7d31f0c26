/** The search for an object or a trace. */
import { useEffect, useId, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { BusFigures, ObjectName } from "../../../../api/bus.ts";
import { listOf } from "../../api/objects.ts";
import { useQuery } from "../../api/query.ts";
import { namespace } from "../../ui/namespace.tsx";
import { historyAddress, traceAddress } from "../addresses.ts";
import { kindAliases, knownResources, resolveKind } from "./kindnames.ts";
import { text } from "./text.ts";

/** A search, possibly incomplete. */
export type HistorySearch = Partial<ObjectName> & { readonly trace?: string };

/** Two forms that lead to the address of a history. */
export function Search({ search }: { search: HistorySearch }) {
  return (
    <div class="columns searches">
      <ObjectSearch search={search} />
      <TraceSearch trace={search.trace ?? ""} />
    </div>
  );
}

function ObjectSearch({ search }: { search: HistorySearch }) {
  const { route } = useLocation();
  const figures = useQuery<BusFigures>("/api/bus/figures");
  const aliases = kindAliases(figures.value?.functions ?? []);
  const [kind, setKind] = useState(search.kind ?? "");
  const [inNamespace, setNamespace] = useState(search.namespace ?? namespace.value);
  const names = useNames(resolveKind(kind, aliases), inNamespace);
  useEffect(() => {
    if (search.kind !== undefined) setKind(search.kind);
    if (search.namespace !== undefined) setNamespace(search.namespace);
  }, [search.kind, search.namespace]);
  return (
    <form
      class="card search"
      aria-labelledby="by-object"
      onSubmit={(event) => {
        event.preventDefault();
        const name = String(new FormData(event.currentTarget).get("name")).trim();
        // The group in the address belongs to the kind in the address.
        const group = kind === search.kind ? search.group : undefined;
        const resolved = resolveKind(kind, aliases);
        route(historyAddress({ ...resolved, ...(group && { group }), namespace: inNamespace.trim(), name }));
      }}
    >
      <h2 id="by-object">{text.search.object}</h2>
      <div class="fields">
        <label class="field">
          <span class="label">{text.search.kind}</span>
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
          <span class="label">{text.search.namespace}</span>
          <input
            list="namespaces"
            autocomplete="off"
            spellcheck={false}
            placeholder={text.search.noNamespace}
            value={inNamespace}
            onInput={({ currentTarget }) => setNamespace(currentTarget.value)}
          />
        </label>
        <label class="field">
          <span class="label">{text.search.name}</span>
          <input
            key={search.name}
            name="name"
            list="bus-names"
            required
            autocomplete="off"
            spellcheck={false}
            defaultValue={search.name ?? ""}
          />
        </label>
      </div>
      <datalist id="bus-kinds">
        {aliases.map(({ alias, group }) => (
          <option key={`${alias} ${group}`} value={alias} label={group} />
        ))}
      </datalist>
      <datalist id="bus-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="actions">
        <button type="submit" class="primary">
          {text.search.show}
        </button>
      </div>
    </form>
  );
}

/** Names of objects that the user may list. */
function useNames({ group, kind }: { group: string; kind: string }, inNamespace: string): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    const resource = knownResources.find((known) => known.group === group && known.kind === kind);
    let isCanceled = false;
    const update = (found: readonly string[]) => {
      if (!isCanceled) setNames(found);
    };
    if (resource === undefined) update([]);
    else
      listOf(resource, { namespace: inNamespace || undefined }).then(
        (items) => update(items.map(({ metadata }) => metadata.name)),
        // Without the permission to list, the user can type a name.
        () => update([]),
      );
    return () => {
      isCanceled = true;
    };
  }, [group, kind, inNamespace]);
  return names;
}

function TraceSearch({ trace }: { trace: string }) {
  const { route } = useLocation();
  const id = useId();
  return (
    <form
      class="card search"
      aria-labelledby="by-trace"
      onSubmit={(event) => {
        event.preventDefault();
        route(traceAddress(String(new FormData(event.currentTarget).get("trace")).trim()));
      }}
    >
      <h2 id="by-trace">{text.search.trace}</h2>
      <div class="field">
        <label for={id}>{text.search.traceId}</label>
        <input
          id={id}
          aria-describedby={`${id}-about`}
          key={trace}
          name="trace"
          class="mono"
          required
          autocomplete="off"
          spellcheck={false}
          defaultValue={trace}
        />
        <p id={`${id}-about`} class="hint">
          {text.search.traceHint}
        </p>
      </div>
      <div class="actions">
        <button type="submit" class="primary">
          {text.search.showTrace}
        </button>
      </div>
    </form>
  );
}
