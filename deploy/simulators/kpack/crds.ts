/**
 * The simulated CRDs of kpack v0.17.2: names, columns, and schemas are kpack's. Not simulated: the conversion between v1alpha1
 * and v1alpha2 (both are served, and an object is the same in either), and ClusterStack, ClusterStore, ClusterLifecycle,
 * Buildpack, and ClusterBuildpack.
 */
import type { Scope } from "denrei/kinds";
import { group } from "./kinds.ts";

interface Names {
  readonly kind: string;
  readonly scope?: Scope;
  readonly shortNames?: readonly string[];
  /** Columns of v1alpha1; `newColumns` are added in v1alpha2. */
  readonly columns: readonly Column[];
  readonly newColumns?: readonly Column[];
}

interface Column {
  readonly name: string;
  readonly type: "string";
  readonly jsonPath: string;
}

const latestImage = (name: string): Column => ({ name, type: "string", jsonPath: ".status.latestImage" });
const condition = (type: string): Column => ({
  name: type,
  type: "string",
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
});
const imageAndReady = [latestImage("LatestImage"), condition("Ready")];

const kinds: readonly Names[] = [
  { kind: "Image", shortNames: ["cnbimage", "cnbimages", "img", "imgs"], columns: imageAndReady },
  {
    kind: "Build",
    shortNames: ["cnbbuild", "cnbbuilds", "bld", "blds"],
    columns: [latestImage("Image"), condition("Succeeded")],
  },
  { kind: "SourceResolver", columns: [condition("Ready")] },
  {
    kind: "ClusterBuilder",
    scope: "Cluster",
    shortNames: ["clstbldr", "clstbldrs"],
    columns: imageAndReady,
    newColumns: [condition("UpToDate")],
  },
  {
    kind: "Builder",
    shortNames: ["bldr", "bldrs"],
    columns: imageAndReady,
    newColumns: [condition("UpToDate")],
  },
];

/** The CRDs, ready to install. */
export const kpackCrds: readonly Record<string, unknown>[] = kinds.map(
  ({ kind, scope = "Namespaced", shortNames, columns, newColumns = [] }) => {
    const singular = kind.toLowerCase();
    const version = (name: string, storage: string, additionalPrinterColumns: readonly Column[]) => ({
      name,
      served: true,
      storage: name === storage,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      subresources: { status: {} },
      additionalPrinterColumns,
    });
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${singular}s.${group}` },
      spec: {
        group,
        scope,
        names: {
          kind,
          listKind: `${kind}List`,
          singular,
          plural: `${singular}s`,
          ...(shortNames && { shortNames }),
          categories: ["kpack"],
        },
        versions: [
          version("v1alpha1", "v1alpha2", columns),
          version("v1alpha2", "v1alpha2", [...columns, ...newColumns]),
        ],
      },
    };
  },
);
