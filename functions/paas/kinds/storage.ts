/** Volume kinds, with the fields that caches of builds need: https://kubernetes.io/docs/concepts/storage/persistent-volumes/ */
import { externalKind, type KubeObject } from "denrei";

export type PersistentVolumeClaim = KubeObject<
  {
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  },
  { readonly phase?: "Pending" | "Bound" | "Lost" }
>;
export const PersistentVolumeClaim = externalKind<PersistentVolumeClaim>({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
});

export type StorageClass = KubeObject<undefined> & { readonly allowVolumeExpansion?: boolean };
export const StorageClass = externalKind<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  scope: "Cluster",
});
