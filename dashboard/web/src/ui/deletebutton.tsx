import type { KubeObject, Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { objectKeyOf, remove } from "../api/objects.ts";
import type { Resource } from "../api/resource.ts";
import { ConfirmDelete } from "./dialog.tsx";
import { notifyOutcome } from "./notices.tsx";

/** A button that deletes an object after a confirmation. Disabled if the object is already being deleted. */
export function DeleteButton({
  resource,
  object,
  consequence,
}: {
  resource: Resource;
  object: Stored<KubeObject>;
  /** What the deletion affects. */
  consequence: string;
}) {
  const [isConfirming, setConfirming] = useState(false);
  const { metadata } = object;
  const what = `${resource.kind} ${metadata.name}`;
  return (
    <>
      <button
        type="button"
        class="danger"
        disabled={metadata.deletionTimestamp !== undefined}
        onClick={() => setConfirming(true)}
      >
        Delete
      </button>
      {isConfirming && (
        <ConfirmDelete
          kind={resource.kind}
          name={metadata.name}
          consequence={consequence}
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            void notifyOutcome(remove(resource, objectKeyOf(object)), `Deleting ${what}.`);
          }}
        />
      )}
    </>
  );
}
