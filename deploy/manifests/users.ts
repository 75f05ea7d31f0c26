/** The users of the NATS servers in a tree: by far its largest file, in one ConfigMap. */
import type { Tree } from "./tree.ts";

const path = "base/authorization.conf";

/**
 * The largest size of the file with which `kubectl apply` can store the ConfigMap in an annotation, as JSON in bytes. Kubernetes limits
 * all annotations of an object to 256 KiB, and the ConfigMap has other files.
 */
const mostBytes = 250_000;

/** The tree without the indentation of the users, a tenth of their size. */
export const withCompactUsers = (tree: Tree): Tree =>
  new Map([...tree, [path, (tree.get(path) ?? "").replaceAll(/^ +/gm, "")]]);

/** Whether the users are too large for an apply without `--server-side`. */
export const needsServerSideApply = (tree: Tree): boolean =>
  Buffer.byteLength(JSON.stringify(tree.get(path))) > mostBytes;
