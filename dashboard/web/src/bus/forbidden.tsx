/** Messages for users who may not see a part of the bus. They name the missing role. */
import { Details } from "../ui/details.tsx";
import { namespace } from "../ui/namespace.tsx";

/** A role that grants access to a part of the bus. `view` is also part of `edit` and `admin`. */
export type BusRole = "denrei-bus-viewer" | "view";

/** Says which role the user needs. */
export function NeedsRole({ of: role }: { of: BusRole }) {
  if (role === "denrei-bus-viewer")
    return (
      <>
        You need the role <code>{role}</code> in the whole cluster. Ask a cluster administrator.
      </>
    );
  return (
    <>
      You need the role <code>{role}</code>{" "}
      {namespace.value === ""
        ? " in the whole cluster. Choose a namespace in which you have it"
        : ` in ${namespace.value}. Choose a namespace in which you have it`}
      , or ask a cluster administrator.
    </>
  );
}

/** Replaces a screen that the server refuses to show. */
export function BusRefused({
  what,
  needs = "view",
  error,
}: {
  what: string;
  needs?: BusRole;
  error: { status: number; message: string };
}) {
  const isForbidden = error.status === 403;
  return (
    <div role="alert" class="empty">
      <h2>{isForbidden ? `You cannot view ${what}` : "Not available"}</h2>
      {isForbidden && (
        <p>
          <NeedsRole of={needs} />
        </p>
      )}
      <Details message={error.message} />
    </div>
  );
}
