/** What becomes of an event at PipeCD, in words of this project. */
export const eventStates = ["NotHandled", "Succeeded", "Failed", "Outdated"] as const;
export type EventState = (typeof eventStates)[number];
