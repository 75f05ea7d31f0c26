/** Which namespace is looked at. */
import { signal } from "@preact/signals";

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
  return (
    <label class="namespace">
      Namespace
      <input
        value={namespace.value}
        placeholder="all"
        onChange={({ currentTarget }) => chooseNamespace(currentTarget.value.trim())}
      />
    </label>
  );
}
