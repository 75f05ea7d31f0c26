import { useRoute } from "preact-iso";

/** The error of a failed connection with GitHub, from the parameter with which the server redirects back. */
export function ConnectionError() {
  const { github } = useRoute().query;
  if (github !== "refused" && github !== "failed") return null;
  return (
    <p role="alert" class="notice bad">
      {github === "refused"
        ? "You did not give consent at GitHub, so your account is not connected."
        : "GitHub was not connected. Try again. If it keeps failing, see the dashboard's log."}
    </p>
  );
}
