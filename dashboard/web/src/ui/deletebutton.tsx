import type { KubeObject, Stored } from "denrei/kinds";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { objectKeyOf, remove } from "../api/objects.ts";
import type { Resource } from "../api/resource.ts";
import { ActionButton } from "./actionbutton.tsx";
import { ConfirmDelete } from "./dialog.tsx";
import { notifyOutcome } from "./notices.tsx";
import { deletionText as text } from "./object/text.ts";

/** A button that deletes an object after a confirmation. Disabled if the object is already being deleted. */
export function DeleteButton({
  resource,
  object,
  consequence,
  leadsTo,
}: {
  resource: Resource;
  object: Stored<KubeObject>;
  /** What the deletion affects. */
  consequence: string;
  /** The screen to show afterwards. Defaults to the current one. */
  leadsTo?: string;
}) {
  const [isConfirming, setConfirming] = useState(false);
  const { route } = useLocation();
  const { metadata } = object;
  const deleteIt = async () => {
    setConfirming(false);
    const work = remove(resource, objectKeyOf(object));
    const outcome = await notifyOutcome(work, text.deleting(resource.kind, metadata.name));
    if (outcome === "done" && leadsTo !== undefined) route(leadsTo);
  };
  return (
    <>
      <ActionButton
        needs={{ verb: "delete", resource, namespace: metadata.namespace }}
        class="danger"
        disabled={metadata.deletionTimestamp !== undefined}
        onClick={() => setConfirming(true)}
      >
        {text.delete}
      </ActionButton>
      {isConfirming && (
        <ConfirmDelete
          kind={resource.kind}
          name={metadata.name}
          consequence={consequence}
          onClose={() => setConfirming(false)}
          onConfirm={() => void deleteIt()}
        />
      )}
    </>
  );
}
