/** The screen of an object with tabs. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import type { Watched } from "../api/watch.ts";
import { EditObject, type ObjectForm } from "./form/object.tsx";
import { Head } from "./head.tsx";
import { tabsText as text } from "./object/text.ts";
import { Loaded, ObjectNotFound, useLastSeen } from "./states.tsx";
import { Health } from "./status.tsx";
import { hasTab, TabNotFound, Tabs } from "./tabs.tsx";
import { ObjectYaml } from "./yaml/panel.tsx";

/** The head, the tabs, and the tabs `settings` with the form and `yaml`. `children` renders the other tabs. */
export function DetailScreen<T extends KubeObject>({
  watched,
  form,
  at: { namespace = "", name = "", tab = "" },
  tabs = [],
  actions,
  children,
}: {
  /** A list of at most this one object. */
  watched: Watched<T>;
  form: ObjectForm<T>;
  /** Parameters of the address. */
  at: Readonly<Record<string, string>>;
  /** Tabs between overview and settings. */
  tabs?: readonly (readonly [path: string, name: string])[];
  /** Buttons in the head. */
  actions: (object: Stored<T>) => ComponentChildren;
  children: (object: Stored<T>) => ComponentChildren;
}) {
  const { list, resource } = form;
  const [path, listName] = list;
  const [object] = watched.items;
  const seen = useLastSeen(watched);
  const screen = `${path}/${namespace}/${name}`;
  const allTabs = [["", text.overview], ...tabs, ["settings", text.settings], ["yaml", text.yaml]] as const;
  return (
    <>
      <Head
        title={name}
        trail={[path, text.list(listName, namespace)]}
        status={object && <Health of={object} />}
      >
        {object && actions(object)}
      </Head>
      <Loaded
        watched={watched}
        empty={<ObjectNotFound kind={resource.kind} name={name} backTo={path} seen={seen} />}
      >
        {([shown]) =>
          shown && (
            <div class="stack">
              <Tabs at={screen} tabs={allTabs} current={tab} label={text.about(name)} />
              {!hasTab(allTabs, tab) ? (
                <TabNotFound at={screen} label={text.overviewOf(name)} />
              ) : tab === "settings" ? (
                <EditObject key={shown.metadata.uid} kind={form} object={shown} />
              ) : tab === "yaml" ? (
                <ObjectYaml of={shown} />
              ) : (
                children(shown)
              )}
            </div>
          )
        }
      </Loaded>
    </>
  );
}
