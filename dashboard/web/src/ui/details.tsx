import { detailsText as text } from "./text.ts";

/** A message of Kubernetes or a server in its own words, shown on demand. */
export const Details = ({ message }: { message: string }) => (
  <details class="detail">
    <summary>{text.summary}</summary>
    <p>{message}</p>
  </details>
);
