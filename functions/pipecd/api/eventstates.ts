/** States of an event at PipeCD. */
export const eventStates = ["NotHandled", "Succeeded", "Failed", "Outdated"] as const;
export type EventState = (typeof eventStates)[number];
