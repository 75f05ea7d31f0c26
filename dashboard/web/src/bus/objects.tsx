/** Links to objects, and causes of reconciles. */
import type { ObjectName, ReconcileCause } from "../../../api/bus.ts";
import { historyAddress } from "./addresses.ts";

/** An object's name, linked to its history. */
export function ObjectLink({ of: object }: { of: ObjectName }) {
  return (
    <span>
      <span class="quiet">{object.kind}</span> <a href={historyAddress(object)}>{object.name}</a>
      {object.namespace && <span class="quiet small"> {object.namespace}</span>}
    </span>
  );
}

const isSame = (a: ObjectName, b: ObjectName): boolean =>
  a.group === b.group && a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;

/** The cause of a reconcile of `about`. */
export function Cause({ of: cause, about }: { of: ReconcileCause; about: ObjectName }) {
  switch (cause.type) {
    case "object":
      return (
        <>
          {isSame(cause.object, about) ? "It" : <ObjectLink of={cause.object} />} changed{" "}
          <span class="quiet small">resource version {cause.resourceVersion}</span>
        </>
      );
    case "webhook":
      return (
        <>
          Webhook{" "}
          <strong>
            {cause.provider} {cause.event}
          </strong>{" "}
          received <span class="quiet small">delivery {cause.delivery}</span>
        </>
      );
    case "timer":
      return <>Timer fired</>;
    case "replay":
      return <>Dead letter replayed</>;
  }
}
