/** The Secret that holds API keys, and its entries. */
import { digestOf } from "denrei";

/** Name of the Secret with the API keys of a control plane's projects. */
export const apiKeysSecret = ({
  metadata: { name },
}: {
  readonly metadata: { readonly name: string };
}): string => `${name}-api-keys`;

/** The Secret's entry for a project: the project id if it is a valid key, otherwise a digest of it. */
export const keyOfProject = (projectID: string): string =>
  /^(?!\.$|\.\.|sha256-)[-._a-zA-Z0-9]{1,200}$/.test(projectID)
    ? projectID
    : `sha256-${digestOf(projectID, 16)}`;
