/** What `denrei dev` can play. */
export const playable = ["github", "kpack", "pipecd"] as const;
export type Play = (typeof playable)[number];
