/** What has become of a connection with GitHub. */
import { useRoute } from "preact-iso";

/** Trouble is said; the address that GitHub sends the browser back to tells of it. */
export function Outcome() {
  const { github } = useRoute().query;
  if (github !== "refused" && github !== "failed") return null;
  return (
    <p role="alert" class="notice bad">
      {github === "refused"
        ? "You have not allowed it at GitHub, so nothing was connected."
        : "GitHub was not connected. Try it again; if that does not help, the dashboard's log says why."}
    </p>
  );
}
