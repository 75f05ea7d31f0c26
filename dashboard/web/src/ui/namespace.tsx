/** The selected namespace. */
import { signal } from "@preact/signals";
import type { KubeObject } from "denrei/kinds";
import { useEffect, useState } from "preact/hooks";
import { listOf } from "../api/objects.ts";
import { namespaces } from "../api/resource.ts";

const storedAs = "denrei.namespace";

/** Empty for all namespaces. */
export const namespace = signal(localStorage.getItem(storedAs) ?? "");

/** Selects a namespace and remembers it. */
export function chooseNamespace(name: string): void {
  localStorage.setItem(storedAs, name);
  namespace.value = name;
}

/** The input for the namespace. It accepts any name, because most users may not list namespaces. */
export function NamespacePicker() {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    listOf(namespaces).then(
      (found) => setNames(found.map(({ metadata }: KubeObject) => metadata.name)),
      // No suggestions without the permission to list namespaces.
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
        placeholder="All namespaces"
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
