/** Addresses may hold passwords; what is shown or logged must not. */

/** The text with user and password of every URL in it replaced: `nats://***@host:4222`. */
export const redacted = (text: string): string => text.replace(/(:\/\/)[^@/]*@/g, "$1***@");
