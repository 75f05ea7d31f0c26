/** Where API keys are kept: the Secret, and under which of its keys. */
import { digestOf } from "../../bus/values/digest.ts";

/** The Secret with the API keys that were made for a control plane's projects. */
export const apiKeysSecret = ({
  metadata: { name },
}: {
  readonly metadata: { readonly name: string };
}): string => `${name}-api-keys`;

/** Under which key it has that of a project: its id, as far as that can be one, and is not what stands for another id. */
export const keyOfProject = (projectID: string): string =>
  /^(?!\.$|\.\.|sha256-)[-._a-zA-Z0-9]{1,200}$/.test(projectID)
    ? projectID
    : `sha256-${digestOf(projectID, 16)}`;
