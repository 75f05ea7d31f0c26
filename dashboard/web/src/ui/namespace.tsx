/** The selected namespace: in the address of lists, and remembered for the next visit. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { RequestError, request } from "../api/session.ts";
import { namespaceText as text } from "./text.ts";
import { withQuery } from "./urlstate.ts";

const storedAs = "denrei.namespace";
const parameter = "namespace";
/** The value of the parameter for all namespaces. */
const all = "*";

/** In the address of a history, the parameter belongs to the search. */
const isSearch = (path: string): boolean => path === "/bus/history";

const inAddress = (value: string | null | undefined): string | undefined =>
  value === all ? "" : (value ?? undefined);

/** The selected namespace; empty for all. */
export const namespace = signal("");

/** Where the user has a role. */
interface VisibleNamespaces {
  readonly everywhere: boolean;
  readonly namespaces: readonly string[];
}

/** Undefined until the first response, and without one. */
export const visibleNamespaces = signal<VisibleNamespaces | undefined>(undefined);

/** Whether a namespace is selected: by the address, an earlier visit, or else the user's roles. */
export const isNamespaceSelected = signal(false);

function select(name: string): void {
  namespace.value = name;
  isNamespaceSelected.value = true;
  localStorage.setItem(storedAs, name);
}

/** Selects the namespace of the first screen, and looks up where the user has roles. */
export async function startNamespace(): Promise<void> {
  const given = isSearch(location.pathname)
    ? undefined
    : inAddress(new URLSearchParams(location.search).get(parameter));
  const known = given ?? localStorage.getItem(storedAs) ?? undefined;
  if (known !== undefined) select(known);
  try {
    const query = new URLSearchParams(known ? { known } : {});
    const visible = await request<VisibleNamespaces>(`/api/namespaces?${query}`);
    visibleNamespaces.value = visible;
    if (!isNamespaceSelected.value) select(visible.everywhere ? "" : (visible.namespaces[0] ?? ""));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    // The names only help: any name can be typed.
    isNamespaceSelected.value = true;
  }
}

/** Keeps the selected namespace in the address of a list. The address wins, so that links and Back select theirs. */
export function useNamespaceInAddress(): void {
  const { query, route } = useLocation();
  const given = inAddress(query[parameter]);
  useEffect(() => {
    if (given === undefined) route(withQuery({ [parameter]: namespace.value || all }), true);
    else if (given !== namespace.value) select(given);
  }, [given, route]);
}

/** Screens of one object, and forms, lead to the list of their area. */
const areaOf = (path: string): string =>
  /^\/bus\/(deadletters|causality)\b/.exec(path)?.[0] ?? `/${path.split("/")[1] ?? ""}`;

/** Returns a function that selects a namespace and shows the list of the current area there. */
export function useChooseNamespace(): (name: string) => void {
  const { path, route } = useLocation();
  return (name) => {
    if (name === namespace.value) return;
    select(name);
    if (path.endsWith("/new")) return;
    const search =
      path === areaOf(path)
        ? withQuery({ [parameter]: name || all })
        : `${areaOf(path)}?${new URLSearchParams({ [parameter]: name || all })}`;
    route(search);
  };
}

/** The input for the namespace. It accepts any name, because the dashboard may not know all of them. */
export function NamespacePicker() {
  const choose = useChooseNamespace();
  return (
    <form
      class="field small"
      onSubmit={(event) => {
        event.preventDefault();
        choose(String(new FormData(event.currentTarget).get("namespace")).trim());
      }}
    >
      <label for="namespace">{text.label}</label>
      <input
        // Only another namespace replaces text that the user is typing.
        key={namespace.value}
        id="namespace"
        name="namespace"
        list="namespaces"
        autocomplete="off"
        spellcheck={false}
        placeholder={text.all}
        defaultValue={namespace.value}
        onChange={({ currentTarget }) => choose(currentTarget.value.trim())}
      />
      <datalist id="namespaces">
        {visibleNamespaces.value?.namespaces.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  );
}
