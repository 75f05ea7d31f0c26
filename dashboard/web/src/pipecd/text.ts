/** Texts about PipeCD. */
export const text = {
  noWorkloads: "No Deployments or StatefulSets.",
} as const;
