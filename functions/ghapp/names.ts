/** Names that others know. */

export const group = "ghapp.tsuzu.dev";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;
