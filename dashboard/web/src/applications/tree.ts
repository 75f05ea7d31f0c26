/** The resource tree of an Application. */
import type { Application, RemoteSync } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import type { PodObject } from "../api/kubernetes.ts";
import type { TreeNode } from "../ui/tree/node.ts";
import { text } from "../ui/tree/text.ts";
import { isPodOf, nodeOf, podNodes } from "../ui/tree/workloads.ts";
import type { Child } from "./children.ts";
import { treeText } from "./text.ts";

type Pods = readonly Stored<PodObject>[];

/** The Application, the RemoteSyncs that build its image, and its objects with their pods. */
export function treeOf(
  app: Stored<Application>,
  {
    builds,
    children,
    pods,
  }: {
    readonly builds: readonly Stored<RemoteSync>[];
    readonly children: readonly Child[];
    readonly pods: Pods;
  },
): TreeNode {
  const { namespace, name } = app.metadata;
  const logOf = ({ metadata, spec }: Stored<PodObject>): string | undefined => {
    const [container] = spec.containers ?? [];
    const pod = container && new URLSearchParams({ pod: `${metadata.name}/${container.name}` });
    return pod && `/applications/${namespace}/${name}/logs?${pod}`;
  };
  const isRunBy = (pod: PodObject) => (child: Child) => isPodOf(child.entry, pod);
  return nodeOf(app, {
    children: [
      ...builds.map((build) => ({
        ...nodeOf(build, { screen: `/builds/${build.metadata.namespace}/${build.metadata.name}` }),
        note: treeText.buildsImage,
      })),
      ...children.map((child) =>
        childNode(
          child,
          podNodes(
            pods.filter((pod) => isPodOf(child.entry, pod)),
            logOf,
          ),
        ),
      ),
      // Such as those of a Deployment that was deleted.
      ...podNodes(
        pods.filter((pod) => !children.some(isRunBy(pod))),
        logOf,
      ),
    ],
  });
}

function childNode(child: Child, pods: readonly TreeNode[]): TreeNode {
  const { entry, object } = child;
  if (object !== undefined) return nodeOf(object, { children: pods });
  const { apiVersion, kind, name } = entry;
  return { key: `${apiVersion} ${kind} ${name}`, kind, name, children: pods, ...absence(child) };
}

/** Why there is no object. Only a current list proves that it is missing. */
function absence({ entry, watched }: Child): Pick<TreeNode, "health" | "note"> {
  if (watched === undefined) return {};
  if (watched.state === "refused") return { note: text.forbidden(entry.kind) };
  if (watched.state === "live") return { health: ["bad", text.missing] };
  return { note: watched.asOf === undefined ? text.notLoaded : text.outdated };
}
