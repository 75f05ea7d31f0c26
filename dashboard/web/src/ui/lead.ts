/** Sentences in front of messages that are not the dashboard's own. Pure. */
import type { Message } from "../api/message.ts";

/** A message as a sentence. A message of Kubernetes or another program follows the lead, such as `The request failed:`. */
export const withLead = (lead: string, { message, isSentence = false }: Message): string =>
  isSentence ? message : `${lead} ${message}`;
