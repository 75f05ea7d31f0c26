import { useRoute } from "preact-iso";
import { connectionText as text } from "./text.ts";

/** The error of a failed connection with GitHub, from the parameter with which the server redirects back. */
export function ConnectionError() {
  const { github } = useRoute().query;
  if (github !== "refused" && github !== "failed") return null;
  return (
    <p role="alert" class="notice bad">
      {text[github]}
    </p>
  );
}
