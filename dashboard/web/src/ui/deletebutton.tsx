/** Deleting an object, after its name was typed. */
import { useState } from "preact/hooks";
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import { placeOf, remove } from "../api/objects.ts";
import type { Resource } from "../api/resource.ts";
import { ConfirmDelete } from "./dialog.tsx";
import { doing } from "./doing.ts";

/** A button that asks first. An object that is being deleted already is not deleted again. */
export function DeleteButton({
  resource,
  object,
  consequence,
}: {
  resource: Resource;
  object: Stored<KubeObject>;
  /** What goes with it. */
  consequence: string;
}) {
  const [isAsking, setAsking] = useState(false);
  const { metadata } = object;
  const what = `${resource.kind} ${metadata.name}`;
  return (
    <>
      <button
        type="button"
        class="danger"
        disabled={metadata.deletionTimestamp !== undefined}
        onClick={() => setAsking(true)}
      >
        Delete
      </button>
      {isAsking && (
        <ConfirmDelete
          kind={resource.kind}
          name={metadata.name}
          consequence={consequence}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void doing(remove(resource, placeOf(object)), `${what} is being deleted`);
          }}
        />
      )}
    </>
  );
}
