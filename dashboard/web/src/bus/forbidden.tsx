/** What is shown to whoever may not see a part of the bus: which role would let them, and where. */
import { namespace } from "../ui/namespace.tsx";

/** A role that lets see a part of the bus. Those of namespaces have others in them: who may edit may view. */
export type BusRole = "denrei-bus-viewer" | "view";

/** A sentence. */
export function NeedsRole({ of: role }: { of: BusRole }) {
  if (role === "denrei-bus-viewer")
    return (
      <>
        It takes the role <code>{role}</code> in the whole cluster: ask whoever administers it.
      </>
    );
  return (
    <>
      It takes the role <code>{role}</code>
      {namespace.value === ""
        ? " in the whole cluster: choose a namespace in which you have it"
        : ` in ${namespace.value}: choose a namespace in which you have it`}
      , or ask whoever administers the cluster.
    </>
  );
}

/** A part that the server does not show, on a screen of its own. */
export function BusRefused({
  what,
  needs = "view",
  trouble,
}: {
  what: string;
  needs?: BusRole;
  trouble: { status: number; message: string };
}) {
  const isForbidden = trouble.status === 403;
  return (
    <div role="alert" class="empty">
      <h2>{isForbidden ? `You may not see ${what}` : "That is not to be had"}</h2>
      {isForbidden && (
        <p>
          <NeedsRole of={needs} />
        </p>
      )}
      <p class="detail">{trouble.message}</p>
    </div>
  );
}
