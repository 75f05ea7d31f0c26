/** Messages for users who may not see a part of the bus. They name the missing role. */
import { Details } from "../ui/details.tsx";
import { namespace } from "../ui/namespace.tsx";
import { text } from "./text.ts";

const words = text.refused;

/** A role that grants access to a part of the bus. `view` is also part of `edit` and `admin`. */
export type BusRole = "denrei-bus-viewer" | "view";

/** Says which role the user needs. */
export function NeedsRole({ of: role }: { of: BusRole }) {
  return (
    <>
      {words.need} <code>{role}</code>{" "}
      {role === "denrei-bus-viewer" ? words.inCluster : words.inNamespace(namespace.value)}
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
      <h2>{isForbidden ? words.forbidden(what) : words.title(what)}</h2>
      <p>{isForbidden ? <NeedsRole of={needs} /> : words.why}</p>
      <Details message={error.message} />
    </div>
  );
}
