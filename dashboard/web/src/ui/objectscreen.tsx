/** The screen of one object. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import type { Watched } from "../api/watch.ts";
import { Head } from "./head.tsx";
import { Forbidden, Loading, ObjectNotFound, StaleNotice } from "./states.tsx";

/** Shows the object with the given name, or why it cannot be shown. */
export function ObjectScreen<T extends KubeObject>({
  watched: { state, items, error },
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
  const found = items.find(({ metadata }) => metadata.name === name);
  if (found && state !== "refused")
    return (
      <>
        {state === "away" && <StaleNotice message={error?.message} />}
        {children(found)}
      </>
    );
  return (
    <>
      <Head title={name} trail={trail} />
      {state === "refused" ? (
        <Forbidden status={error?.status ?? 403} message={error?.message ?? ""} />
      ) : state === "live" ? (
        <ObjectNotFound kind={kind} name={name} backTo={trail[0]} />
      ) : (
        <Loading />
      )}
    </>
  );
}
