/** What a page is told when it is refused. */

/** A word for code and a sentence for people. */
export const refusal = (reason: string, message: string) => ({ reason, message });
