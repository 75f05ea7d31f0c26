/** Which namespace is looked at. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { KubeObject } from "../../../../bus/kube/object.ts";
import { listOf } from "../api/objects.ts";
import { namespaces } from "../api/resource.ts";

const storedAs = "denrei.namespace";

/** Empty for all of them. */
export const namespace = signal(localStorage.getItem(storedAs) ?? "");

/** Looks at another one. */
export function chooseNamespace(name: string): void {
  localStorage.setItem(storedAs, name);
  namespace.value = name;
}

/** Where it is chosen: whoever may not list namespaces can still name one. */
export function NamespacePicker() {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    listOf(namespaces).then(
      (found) => setNames(found.map(({ metadata }: KubeObject) => metadata.name)),
      // Most people may not, and can name the one that is theirs.
      () => undefined,
    );
  }, []);
  return (
    <form
      class="field small"
      onSubmit={(event) => {
        event.preventDefault();
        chooseNamespace(String(new FormData(event.currentTarget).get("namespace")).trim());
      }}
    >
      <label for="namespace">Namespace</label>
      <input
        id="namespace"
        name="namespace"
        list="namespaces"
        autocomplete="off"
        spellcheck={false}
        placeholder="all of them"
        value={namespace.value}
        onChange={({ currentTarget }) => chooseNamespace(currentTarget.value.trim())}
      />
      <datalist id="namespaces">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  );
}
