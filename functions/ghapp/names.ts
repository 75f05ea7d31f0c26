/** API group and version. */

export const group = "ghapp.tsuzu.dev";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;
