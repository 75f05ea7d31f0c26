/** Links to objects, and causes of reconciles. */
import type { ObjectName, ReconcileCause } from "../../../api/bus.ts";
import { historyAddress } from "./addresses.ts";
import { text } from "./text.ts";

const words = text.causes;

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
          {isSame(cause.object, about) ? words.it : <ObjectLink of={cause.object} />} {words.changed}{" "}
          <span class="quiet small">{words.version(cause.resourceVersion)}</span>
        </>
      );
    case "webhook":
      return (
        <>
          {words.webhook}{" "}
          <strong>
            {cause.provider} {cause.event}
          </strong>{" "}
          {words.received} <span class="quiet small">{words.delivery(cause.delivery)}</span>
        </>
      );
    case "timer":
      return <>{words.timer}</>;
    case "replay":
      return <>{words.replay}</>;
  }
}
