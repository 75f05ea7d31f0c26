/** The screen of one object. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import type { Watched } from "../api/watch.ts";
import { Head } from "./head.tsx";
import { Loaded, ObjectNotFound, Staleness, useLastSeen } from "./states.tsx";
import { YamlCard } from "./yaml/panel.tsx";

/** Shows the object with the given name and its YAML, or why it cannot be shown. */
export function ObjectScreen<T extends KubeObject>({
  watched,
  kind,
  name,
  trail,
  children,
}: {
  watched: Watched<T>;
  kind: string;
  name: string;
  /** Link to the list. */
  trail: readonly [to: string, name: string];
  children: (object: Stored<T>) => ComponentChildren;
}) {
  const seen = useLastSeen(watched);
  const found = watched.items.find(({ metadata }) => metadata.name === name);
  if (found)
    return (
      <>
        <Staleness of={watched} />
        {children(found)}
        <YamlCard of={found} />
      </>
    );
  return (
    <>
      <Head title={name} trail={trail} />
      <Loaded
        watched={{ ...watched, items: [] }}
        empty={<ObjectNotFound kind={kind} name={name} backTo={trail[0]} seen={seen} />}
      >
        {() => null}
      </Loaded>
    </>
  );
}
