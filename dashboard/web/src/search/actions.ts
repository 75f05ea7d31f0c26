/** Screens and actions as results. */
import { creating, useMay } from "../api/access.ts";
import { applications, appPipelines, type Resource, remoteSyncs } from "../api/resource.ts";
import { installations } from "../github/resources.ts";
import { screens } from "../screens.ts";
import { namespace, visibleNamespaces } from "../ui/namespace.tsx";
import { currentTabs, tabAddress } from "../ui/tabs.tsx";
import { theme, themes } from "../ui/theme.tsx";
import { hikawas } from "../zundoko/resources.ts";
import type { Entry, EntryGroup } from "./entry.ts";
import { groupText, actionText as text } from "./text.ts";

/** The screens of the navigation. */
export function screenGroup(): EntryGroup {
  const entries = screens.flatMap(({ path, name }) =>
    name === undefined ? [] : [{ id: `screen:${path}`, name, to: path }],
  );
  return { name: groupText.screens, entries };
}

/** The tabs of the current screen. */
export function tabGroup(): EntryGroup {
  const { at = "", tabs = [], label } = currentTabs.value ?? {};
  const entries = tabs.map(([path, name]): Entry => {
    const to = tabAddress(at, path);
    return { id: `tab:${to}`, name, detail: label, to };
  });
  return { name: groupText.tabs, entries };
}

/** The form of a kind, if the user may create such objects in the selected namespace. */
function useCreation(path: string, resource: Resource): readonly Entry[] {
  const may = useMay(creating(resource, namespace.value));
  if (!may) return [];
  return [{ id: `create:${path}`, name: text.create(resource.kind), words: "new", to: path }];
}

/** The forms that the user may use. */
export const useCreations = (): readonly Entry[] =>
  [
    useCreation("/applications/new", applications),
    useCreation("/builds/new", remoteSyncs),
    useCreation("/previews/new", appPipelines),
    useCreation("/github/new", installations),
    useCreation("/zundoko/new", hikawas),
  ].flat();

/** What a user can do on every screen. */
export function actionGroup(creations: readonly Entry[], logOut: () => void): EntryGroup {
  const appearances = themes
    .filter((name) => name !== theme.value)
    .map(
      (name): Entry => ({
        id: `theme:${name}`,
        name: text.themes[name],
        words: "appearance mode",
        to: () => {
          theme.value = name;
        },
      }),
    );
  const leaving: Entry = { id: "log-out", name: text.logOut, words: "logout sign out", to: logOut };
  return { name: groupText.actions, entries: [...creations, ...appearances, leaving] };
}

/** The other namespaces that the user may see. */
export function namespaceGroup(choose: (name: string) => void): EntryGroup {
  const { everywhere = false, namespaces = [] } = visibleNamespaces.value ?? {};
  const entries = [...(everywhere ? [""] : []), ...namespaces]
    .filter((name) => name !== namespace.value)
    .map(
      (name): Entry => ({
        id: `namespace:${name}`,
        name: text.switchTo(name),
        words: "namespace",
        to: () => choose(name),
      }),
    );
  return { name: groupText.namespaces, entries };
}
