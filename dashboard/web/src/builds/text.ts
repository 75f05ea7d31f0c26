/** Why a build shows no steps. */
export const withoutPodText = {
  forbidden: "You cannot view the pods of this build.",
  notCreated: "Its pod has not been created yet.",
  loading: "Looking for its pod…",
  unknown: "Its pod is not in the last known state.",
  gone: "Its pod no longer exists, so there is no log.",
  completed: (steps: readonly string[]) => `Completed steps: ${steps.join(", ")}.`,
};
