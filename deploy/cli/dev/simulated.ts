/** What `denrei dev --simulate` accepts. */
export const simulated = ["github", "kpack", "pipecd"] as const;
export type Simulated = (typeof simulated)[number];
