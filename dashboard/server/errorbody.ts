/** Error responses for the page. */

/** The body of an error response: a reason for code, and a message for the user. */
export const errorBody = (reason: string, message: string) => ({ reason, message });
