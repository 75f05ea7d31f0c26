/** A write of a reconcile. */
import type { ReconcileWrite } from "../../../../api/bus.ts";
import { ObjectLink } from "../objects.tsx";
import { text } from "./text.ts";

export function WriteText({ of: { verb, object, resourceVersion } }: { of: ReconcileWrite }) {
  return (
    <span>
      {text.verbs[verb]} <ObjectLink of={object} />{" "}
      <span class="quiet small">{text.version(resourceVersion)}</span>
    </span>
  );
}
